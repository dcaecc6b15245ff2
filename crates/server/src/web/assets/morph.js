// Makes one part of a page equal to a newer version of it and touches only what differs: focus, selection, scroll positions,
// open menus and ticks stay. Elements with an id or a data-key are recognised wherever they stand.
"use strict";
const morph = (() => {
  const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.id || node.dataset?.key || "" : "");
  const isAlike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName;

  // What the reader decides, not the server.
  const isReaders = (element, name) => name === "open" && element.nodeName === "DETAILS";
  const isField = (element) => ["INPUT", "TEXTAREA", "SELECT"].includes(element.nodeName);
  // Scripts of the page write the words of a time; the server's would only flicker.
  function isSameMoment(from, to) {
    const at = (element) => element.getAttribute("datetime") ?? element.dataset?.since;
    return at(from) !== undefined && at(from) === at(to);
  }

  function attributes(from, to) {
    for (const { name, value } of [...to.attributes]) {
      if (!isReaders(from, name) && from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
    for (const { name } of [...from.attributes]) {
      const isTitleOfTime = name === "title" && from.nodeName === "TIME";
      if (!isReaders(from, name) && !isTitleOfTime && !to.hasAttribute(name)) from.removeAttribute(name);
    }
  }

  function element(from, to) {
    if (isSameMoment(from, to)) return;
    // What is typed or chosen in it stays; a hidden one belongs to the server.
    if (isField(from) && from.type !== "hidden") {
      if (from.disabled !== to.disabled) from.disabled = to.disabled;
      return;
    }
    attributes(from, to);
    children(from, to);
  }

  function node(from, to) {
    if (from.nodeType === Node.ELEMENT_NODE) element(from, to);
    else if (from.data !== to.data) from.data = to.data;
  }

  function children(from, to) {
    const wanted = new Set([...to.childNodes].map(keyOf).filter(Boolean));
    for (const child of [...from.childNodes]) {
      if (keyOf(child) && !wanted.has(keyOf(child))) child.remove();
    }
    const known = new Map([...from.childNodes].filter(keyOf).map((child) => [keyOf(child), child]));
    let next = from.firstChild;
    for (const fresh of [...to.childNodes]) {
      const key = keyOf(fresh);
      const keyed = key && known.get(key);
      const isNext = next && !keyOf(next) && !key && isAlike(next, fresh);
      const match = keyed && isAlike(keyed, fresh) ? keyed : isNext ? next : null;
      if (!match) {
        from.insertBefore(document.importNode(fresh, true), next);
        continue;
      }
      if (match === next) next = next.nextSibling;
      else from.insertBefore(match, next);
      node(match, fresh);
    }
    while (next) {
      const rest = next;
      next = next.nextSibling;
      rest.remove();
    }
  }

  return (from, to) => {
    // An element that has to be moved loses its focus.
    const focused = from.contains(document.activeElement) ? document.activeElement : null;
    element(from, to);
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  };
})();
