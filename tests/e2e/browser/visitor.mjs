// A person with a browser: every page they see is watched for errors, looked at by axe, and photographed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function openBrowser(program) {
  // Within a container, and as root, Chromium has no sandbox of its own.
  return chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

export async function logIn(page, name, password) {
  await page.goto("/login");
  await page.locator("#name").fill(name);
  await page.locator("#password").fill(password);
  await page.locator("form[action='/login'] button").click();
  await page.waitForURL((url) => url.pathname !== "/login");
}

export class Visitor {
  static async arrive(browser, { base, pictures, name, language = "en-US", width = 1400, colours = "light" }) {
    const context = await browser.newContext({ baseURL: base, locale: language, colorScheme: colours, viewport: { width, height: 900 } });
    const page = await context.newPage();
    return new Visitor(context, page, { pictures, name, width });
  }

  constructor(context, page, about) {
    Object.assign(this, { context, page }, about);
    this.problems = [];
    page.on("pageerror", (error) => this.complain(`error in a script: ${error.message}`));
    page.on("console", (message) => {
      const expected = /the server responded with a status of 4\d\d/.test(message.text());
      if (message.type() === "error" && !expected) this.complain(`console: ${message.text()}`);
    });
    page.on("requestfailed", (request) => {
      const mine = request.url().startsWith("http") && !/aborted|ERR_ABORTED/i.test(request.failure()?.errorText ?? "");
      if (mine) this.complain(`${request.url()}: ${request.failure()?.errorText}`);
    });
  }

  complain(words) {
    this.problems.push(`${this.name}: ${this.page.url()}: ${words}`);
  }

  async go(path) {
    const answer = await this.page.goto(path);
    return answer.status();
  }

  async see(words) {
    await this.page.getByText(words).first().waitFor();
  }

  // What must hold on every page.
  async look(picture) {
    const { page } = this;
    await page.waitForLoadState("domcontentloaded");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > this.width) this.complain(`${wide} pixels wide on a screen of ${this.width}`);
    const outside = await page.evaluate(() => [...document.querySelectorAll("script:not([src]), [style], style")]
      .filter((it) => !it.closest(".uplot")).length);
    if (outside) this.complain("something inline is in the page");
    // Neither may write styles into the page, which its own policy forbids: no hidden caret, no style sheets loaded again.
    await page.screenshot({ path: `${this.pictures}/${picture}-${this.name}.png`, fullPage: true, caret: "initial" });
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], preload: false }));
    for (const { id, impact, nodes } of found.violations) {
      if (impact === "serious" || impact === "critical") this.complain(`axe: ${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
    }
  }

  async leave() {
    await this.context.close();
    return this.problems;
  }
}
