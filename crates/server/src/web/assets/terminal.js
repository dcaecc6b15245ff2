// What a program prints as lines of text: colours, carriage returns, erased lines. Knows no page.
"use strict";
class Terminal {
  static MOST_LINES = 5000;
  static MOST_COLUMNS = 4000;

  constructor() {
    this.lines = [[]];
    this.row = 0;
    this.column = 0;
    this.style = "";
    this.pending = "";
    this.dropped = 0;
    this.dirtyFrom = 0;
  }

  write(text) {
    const all = this.pending + text;
    this.pending = "";
    for (let at = 0; at < all.length; at += 1) {
      const letter = all[at];
      if (letter === "\x1b") {
        const sequence = /^\x1b(?:\[([0-9;?]*)([@-~])|\][^\x07]*\x07|[^\[\]])/.exec(all.slice(at, at + 64));
        if (!sequence) {
          // The rest of it comes with the next bytes, unless it is nonsense.
          if (all.length - at < 64) {
            this.pending = all.slice(at);
            return;
          }
          continue;
        }
        if (sequence[2]) this.control(sequence[2], sequence[1]);
        at += sequence[0].length - 1;
      } else if (letter === "\n") {
        this.newLine();
      } else if (letter === "\r") {
        this.column = 0;
      } else if (letter === "\b") {
        this.column = Math.max(0, this.column - 1);
      } else if (letter >= " " || letter === "\t") {
        this.put(letter);
      }
    }
  }

  put(letter) {
    if (this.column >= Terminal.MOST_COLUMNS) this.newLine();
    const line = this.lines[this.row];
    while (line.length < this.column) line.push([" ", ""]);
    line[this.column] = [letter, this.style];
    this.column += 1;
    this.dirtyFrom = Math.min(this.dirtyFrom, this.row);
  }

  newLine() {
    this.row += 1;
    this.column = 0;
    if (this.row === this.lines.length) this.lines.push([]);
    if (this.lines.length > Terminal.MOST_LINES) {
      const extra = this.lines.length - Terminal.MOST_LINES;
      this.lines.splice(0, extra);
      this.row -= extra;
      this.dropped += extra;
      this.dirtyFrom = Math.max(0, this.dirtyFrom - extra);
    }
  }

  control(kind, given) {
    const number = parseInt(given, 10) || 0;
    const line = this.lines[this.row];
    if (kind === "m") this.colour(given);
    else if (kind === "A") this.row = Math.max(0, this.row - Math.max(1, number));
    else if (kind === "K" && number === 0) line.length = Math.min(line.length, this.column);
    else if (kind === "K") line.length = 0;
    else if (kind === "G") this.column = Math.min(Terminal.MOST_COLUMNS, Math.max(0, number - 1));
    this.dirtyFrom = Math.min(this.dirtyFrom, this.row);
  }

  colour(given) {
    const words = new Set(this.style.split(" ").filter(Boolean));
    const uncolour = () => [...words].filter((word) => /^c\d$/.test(word)).forEach((word) => words.delete(word));
    const codes = (given || "0").split(";").map(Number);
    for (let at = 0; at < codes.length; at += 1) {
      const code = codes[at];
      if (code === 0) words.clear();
      else if (code === 1) words.add("bold");
      else if (code === 2) words.add("faint");
      else if (code === 3) words.add("italic");
      else if (code === 4) words.add("underline");
      else if (code === 22) ["bold", "faint"].forEach((word) => words.delete(word));
      else if (code === 39) uncolour();
      else if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : 4;
      else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
        uncolour();
        words.add(`c${code % 10}`);
      }
    }
    this.style = [...words].join(" ");
  }

  // Runs of letters with the same style.
  static pieces(line) {
    const pieces = [];
    for (const [letter, style] of line) {
      const last = pieces[pieces.length - 1];
      if (last && last.style === style) last.text += letter;
      else pieces.push({ style, text: letter });
    }
    return pieces;
  }
}
