// Pages that are looked at while things happen: what a refresh leaves alone, which log is followed, how a session ends.
// Arguments: the server's address, the browser, where pictures go; the password is in the environment.
import assert from "node:assert/strict";
import { logIn, openBrowser, Visitor } from "./visitor.mjs";

const [base, program, pictures] = process.argv.slice(2);
const password = process.env.PASSWORD;
const browser = await openBrowser(program);
const problems = [];

async function as(about, visit) {
  const visitor = await Visitor.arrive(browser, { base, pictures, ...about });
  visitor.page.setDefaultTimeout(20000);
  try {
    await logIn(visitor.page, "ada", password);
    await visit(visitor, visitor.page);
  } catch (error) {
    await visitor.page.screenshot({ path: `${pictures}/failed-${about.name}.png`, fullPage: true });
    throw error;
  } finally {
    problems.push(...(await visitor.leave()));
  }
}

async function submit(page, command, fields = {}) {
  await page.goto("/new");
  await page.locator("#command").fill(command);
  for (const [name, value] of Object.entries({ directory: "/tmp", ...fields })) await page.locator(`#${name}`).fill(value);
  await page.locator("button[value=submit]").click();
  await page.waitForURL(/\/tasks\/\d+$/);
  return Number(page.url().split("/").pop());
}

// A task without GPUs takes one of few cores.
async function cancel(page, id) {
  await page.goto(`/tasks/${id}`);
  await page.locator("button[value=cancel]").click();
  await page.locator("button.danger").click();
  await page.locator("button[value=retry]").waitFor();
}

await as({ name: "calm" }, async (visitor, page) => {
  const other = await visitor.context.newPage();
  const blocker = await submit(other, "sleep 600", { gpus: "4", name: "blocker" });
  const first = await submit(other, "true", { gpus: "1", name: "first" });

  // The list: focus, selected text, ticks and the very elements stay while rows come.
  await page.goto("/tasks");
  await page.locator(`#c${first}`).check();
  const link = page.locator(`tr:has(#c${first}) td.name a`);
  await link.focus();
  await page.evaluate((id) => {
    window.kept = document.activeElement;
    const code = document.querySelector(`tr:has(#c${id}) td.command code`);
    getSelection().selectAllChildren(code);
  }, first);
  const second = await submit(other, "true", { gpus: "1", name: "second" });
  await page.locator(`#c${second}`).waitFor();
  const stayed = await page.evaluate(() => ({
    focus: document.activeElement === window.kept && window.kept.isConnected,
    selection: getSelection().toString(),
  }));
  assert.deepEqual(stayed, { focus: true, selection: "true" }, "focus and selection stay");
  assert.ok(await page.locator(`#c${first}`).isChecked(), "ticks stay");
  assert.equal(await page.locator("#chosen").innerText(), "1");

  // What is typed into a form on a page that is refreshed stays, and the rest of the page goes on.
  await page.goto("/gpus");
  const slots = page.locator("td.manage input[name=slots]").first();
  await slots.fill("3");
  await other.goto(`/tasks/${blocker}`);
  await other.locator("button[value=cancel]").click();
  await other.locator("button.danger").click();
  await other.locator("#live .pill").getByText("cancelled").waitFor();
  await page.locator("td.holder").getByText("free").first().waitFor();
  assert.equal(await slots.inputValue(), "3");

  // Menus that are open stay open, and the page does not jump.
  await other.goto("/new");
  await other.getByText("Paste or upload a script").click();
  await other.locator("#script").fill("#!/bin/sh\n#DANLU --gpus 0 --env NOISY=1\nsleep 600\n");
  await other.locator("#directory").fill("/tmp");
  await other.locator("button[value=submit]").click();
  await other.waitForURL(/\/tasks\/\d+$/);
  const noisy = Number(other.url().split("/").pop());
  await other.locator("#live .pill").getByText("running").waitFor();
  await page.setViewportSize({ width: 1000, height: 300 });
  await page.goto(`/tasks/${noisy}`);
  await page.locator("#environment summary").click();
  await page.evaluate(() => scrollTo(0, 200));
  const before = await page.evaluate(() => scrollY);
  await other.goto(`/tasks/${noisy}`);
  await other.locator("button[value=pause]").click();
  await page.locator("#live .pill").getByText("paused").waitFor();
  assert.ok(await page.locator("#environment").evaluate((it) => it.open), "it stays open");
  assert.equal(await page.evaluate(() => scrollY), before, "the page does not jump");
  await cancel(other, noisy);
});

// A task that runs again: the page goes on with the newest attempt, and says which.
for (const [language, code, width] of [["en-US", "en", 1280], ["zh-CN", "zh", 390]]) {
  await as({ name: `attempts-${code}-${width}`, language, width }, async (visitor, page) => {
    const mark = `/tmp/danlu-calm-${process.pid}-${code}`;
    const line = `if test -e ${mark}; then rm ${mark}; echo this is the second; sleep 600; else touch ${mark}; echo this is the first; exit 1; fi`;
    const id = await submit(page, line, { gpus: "0", name: "again" });
    await page.locator("#terminal").getByText("this is the first").waitFor();
    await page.locator("button[value=retry]").waitFor();
    const other = await visitor.context.newPage();
    await other.goto(`/tasks/${id}`);
    await other.locator("button[value=retry]").click();
    await page.locator("#terminal").getByText("this is the second").waitFor();
    assert.ok(!(await page.locator("#terminal").innerText()).includes("the first"), "one attempt at a time");
    assert.match(await page.locator("#attempts [aria-current]").innerText(), /2/, "it says which attempt it is");
    await visitor.look("task-attempts");
    // The other one is a click away, and stays when it was chosen.
    await page.locator("#attempts a").filter({ hasText: "1" }).click();
    await page.locator("#terminal").getByText("this is the first").waitFor();
    await other.locator("button[value=pause]").click();
    await page.locator("button[value=resume]").waitFor();
    assert.ok(!(await page.locator("#terminal").innerText()).includes("the second"));
    await cancel(other, id);
  });
}

// A followed log: any step up stops it, the end starts it again.
await as({ name: "log-keys" }, async (visitor, page) => {
  const id = await submit(page, "seq 1 400; while true; do echo more; sleep 0.2; done", { gpus: "0", name: "long" });
  const terminal = page.locator("#terminal");
  await terminal.getByText("more").first().waitFor();
  await terminal.focus();
  await page.keyboard.press("PageUp");
  await page.waitForFunction(() => !document.getElementById("log-follow").checked);
  const rows = await terminal.locator("div").count();
  await page.waitForFunction((count) => document.querySelectorAll("#terminal div").length > count + 2, rows);
  // The browser may still be on its way up.
  const below = await terminal.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
  assert.ok(below > 100, `it is not dragged back: ${below} pixels below`);
  assert.ok(!(await page.locator("#log-follow").isChecked()));
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.getElementById("log-follow").checked);
  await cancel(page, id);
});

// A session that has ended, elsewhere.
for (const [language, code, width] of [["en-US", "en", 1280], ["zh-CN", "zh", 390]]) {
  await as({ name: `ended-${code}-${width}`, language, width }, async (visitor, page) => {
    const id = await submit(page, "sleep 600", { gpus: "0", name: "held" });
    const acting = await visitor.context.newPage();
    await acting.goto(`/tasks/${id}`);
    await page.goto("/tasks?text=held");
    const leaving = await visitor.context.newPage();
    await leaving.goto("/me");
    await leaving.locator("form[action='/me/session'] button").click();
    await leaving.waitForURL(/\/login$/);
    // The page says so by itself.
    const told = page.locator("#session-ended");
    await told.waitFor();
    assert.ok(await page.locator("#offline").isHidden(), "the server is not silent");
    await visitor.look("session-ended");
    await told.locator("a").click();
    await page.locator("#name").fill("ada");
    await page.locator("#password").fill(password);
    await page.locator("form[action='/login'] button").click();
    await page.waitForURL("**/tasks?text=held");
    await page.locator("td.name").getByText("held").first().waitFor();

    // An act of a page that is still open leads to the same page, not to what the act would have said.
    await visitor.context.clearCookies();
    await acting.locator("button[value=pause]").click();
    await acting.waitForURL(/\/login\?next=/);
    await acting.locator("#name").fill("ada");
    await acting.locator("#password").fill(password);
    await acting.locator("form[action='/login'] button").click();
    await acting.waitForURL(`**/tasks/${id}`);
    await cancel(acting, id);
  });
}

await browser.close();
if (problems.length) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log("all was seen");
