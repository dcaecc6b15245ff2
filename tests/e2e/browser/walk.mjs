// What people do in a browser, from logging in to being thrown out.
// Arguments: the server's address, the browser, where pictures go; passwords are in the environment.
import assert from "node:assert/strict";
import { logIn, openBrowser, Visitor } from "./visitor.mjs";

const [base, program, pictures] = process.argv.slice(2);
const passwords = JSON.parse(process.env.PASSWORDS);
const browser = await openBrowser(program);
const problems = [];

async function as(about, visit) {
  const visitor = await Visitor.arrive(browser, { base, pictures, ...about });
  visitor.page.setDefaultTimeout(20000);
  try {
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
  for (const [name, value] of Object.entries(fields)) await page.locator(`#${name}`).fill(value);
  await page.locator("button[value=submit]").click();
  await page.waitForURL(/\/tasks\/\d+$/);
  return Number(page.url().split("/").pop());
}

await as({ name: "stranger" }, async (visitor, page) => {
  await page.goto("/tasks?state=failed");
  assert.equal(new URL(page.url()).pathname, "/login", "strangers log in first");
  await visitor.look("login");
  await page.locator("#name").fill("ada");
  await page.locator("#password").fill("wrong");
  await page.locator("form[action='/login'] button").click();
  await visitor.see("wrong");
  await page.goto("/login?next=//evil.example/");
  await page.locator("#name").fill("ada");
  await page.locator("#password").fill(passwords.ada);
  await page.locator("form[action='/login'] button").click();
  await page.waitForURL(`${base}/`);
});

// The link that a server without an administrator prints, once.
await as({ name: "first-admin" }, async (visitor, page) => {
  await page.goto(process.env.SETUP);
  await visitor.look("setup");
  await page.locator("input[name=name]").fill("boss");
  await page.locator("input[name=password]").fill(passwords.ada);
  await page.locator("form[action='/setup'] button").click();
  await page.waitForURL(/\/login$/);
  await page.locator("#name").fill("boss");
  await page.locator("#password").fill(passwords.ada);
  await page.locator("form[action='/login'] button").click();
  await page.locator("a[href='/admin']").waitFor();
  assert.equal((await page.goto(process.env.SETUP)).status(), 403, "it is good once");
});

let waiting;
await as({ name: "en-1400" }, async (visitor, page) => {
  await logIn(page, "ada", passwords.ada);
  await visitor.look("overview-empty");
  await page.goto("/new");
  await page.locator("#command").fill("for i in 1 2 3; do printf '\\033[31mstep %s\\033[0m\\n' $i; sleep 0.3; done; printf 'a 1%%\\ra 100%%\\n'; echo '<b>end</b>'; sleep 600");
  await page.locator("#directory").fill("/tmp");
  await page.locator("#gpus").fill("2");
  await page.locator("#answer .answer.good").waitFor();
  await visitor.look("new");
  await page.locator("button[value=submit]").click();
  await page.waitForURL(/\/tasks\/\d+$/);
  const id = Number(page.url().split("/").pop());

  const terminal = page.locator("#terminal");
  await terminal.getByText("step 3").waitFor();
  await terminal.getByText("<b>end</b>").waitFor();
  assert.match(await terminal.innerText(), /\na 100%\n/, "a progress bar is one line");
  assert.equal(await terminal.locator(".c1").first().innerText(), "step 1", "colours are kept");
  await page.locator("#log-search").fill("step 2");
  await page.locator("#log-hits").getByText("1 / 1").waitFor();
  await visitor.look("task-running");

  waiting = await submit(page, "echo <script>alert(1)</script>", { gpus: "4", directory: "/tmp", name: "<img src=x onerror=alert(1)>" });
  await page.locator(".panel").getByText(`#${id}`).waitFor();
  await visitor.look("task-waiting");
  await page.getByRole("link", { name: "Edit" }).click();
  await page.locator("#time").fill("2h");
  await page.locator("button[value=submit]").click();
  await page.waitForURL(`**/tasks/${waiting}`);
  await page.locator("dd").getByText("2h", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Clone" }).click();
  assert.equal(await page.locator("#gpus").inputValue(), "4");
  await page.locator("#name").fill("copy");
  await page.locator("button[value=submit]").click();
  await page.waitForURL(/\/tasks\/\d+$/);
  const copy = Number(page.url().split("/").pop());
  assert.notEqual(copy, waiting);

  await page.goto("/");
  await visitor.look("overview");
  await page.goto("/tasks");
  await page.locator(`#c${copy}`).check();
  await visitor.look("tasks");
  await page.locator(".bulk button[value=cancel]").click();
  await visitor.look("confirm");
  await page.locator("button.danger").click();
  await page.locator(`tr:has(#c${copy}) .pill`).getByText("cancelled").waitFor();

  await page.goto(`/tasks/${id}`);
  await page.locator("button[value=cancel]").click();
  await page.locator("button.danger").click();
  await page.locator("#live .pill").getByText("cancelled").waitFor();
  await page.goto("/gpus");
  await visitor.look("gpus");
  assert.equal(await visitor.go("/tasks/99999"), 404);
  await visitor.look("problem");
});

await as({ name: "script" }, async (visitor, page) => {
  await logIn(page, "ada", passwords.ada);
  await page.goto("/new");
  await page.getByText("Paste or upload a script").click();
  // Refused as danlu submit refuses it.
  await page.locator("#directory").fill("/tmp");
  await page.locator("#script").fill("#!/bin/sh\n#SBATCH --exclude=n1\ntrue\n");
  await page.locator("#answer").getByText("line 2: `--exclude` is not supported").waitFor();
  await page.locator("#script").fill("#!/bin/sh\n#SBATCH --gres=gpu:1 --time=00:10:00\n#DANLU --name from-script\necho from the script\n");
  await page.locator("#directory").fill("/tmp");
  await page.locator("#answer").getByText("Taken from the script").waitFor();
  await page.locator("button[value=submit]").click();
  await page.locator("#terminal").getByText("from the script").waitFor();
  await page.goto("/new");
  await page.locator("#command").fill("echo {lr} {seed}");
  await page.locator("#directory").fill("/tmp");
  await page.getByText("Array or parameter sweep").click();
  await page.locator("#sweep input").first().fill("lr");
  await page.locator("#sweep input").nth(1).fill("1e-3,1e-4");
  await page.locator("#answer").getByText("2 tasks in total").waitFor();
  await page.locator("#gpus").fill("99");
  await page.locator("#answer .answer.bad").waitFor();
  await visitor.look("new-refused");
});

await as({ name: "zh-390", language: "zh-CN", width: 390, colours: "dark" }, async (visitor, page) => {
  await logIn(page, "ada", passwords.ada);
  assert.equal(await page.locator("html").getAttribute("lang"), "zh-CN");
  await submit(page, "printf 你好; false", { gpus: "0", directory: "/tmp", name: "失败的任务" });
  await page.locator("#live .pill").getByText("失败").waitFor();
  await visitor.look("task-failed");
  await page.locator("button[value=en]").click();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
});

// Machines: this one, and one that nobody answers at.
let here;
await as({ name: "machines" }, async (visitor, page) => {
  await logIn(page, "ada", passwords.ada);
  await submit(page, "sleep 600", { gpus: "1", directory: "/tmp", name: "there" });
  await page.locator("#live .pill").getByText("running").waitFor();
  await page.goto("/nodes");
  const all = await page.evaluate(async () => (await (await fetch("/api/v1/nodes")).json()).nodes);
  here = all[0].name;
  await page.locator("#name").fill("n9");
  await page.locator("#ssh").fill("nobody@127.0.0.1:1");
  await page.locator("#labels").fill("room=b12");
  await page.locator("form[action='/nodes'] button.main").click();
  await page.waitForURL("**/nodes/n9");
  await page.locator(".label").getByText("room=b12").waitFor();
  await page.locator(".panel.bad").getByText("Connection refused").waitFor();
  await visitor.look("node-away");
  await page.locator("button[value=check]").click();
  await page.locator(".steps .failed").waitFor();
  await visitor.look("node-check");
  await page.goto(`/nodes/${here}`);
  await page.locator(".tasks").getByText("there").waitFor();
  assert.equal(await page.locator(".cell").count(), all[0].gpus);
  await page.locator("button[value=drain]").click();
  await visitor.look("node-drain");
  await page.locator("button.danger").click();
  await page.locator("#live .pill.warns").getByText("draining").waitFor();
  await page.locator("button[value=undrain]").click();
  await page.locator("button.danger").click();
  await page.locator("#live .pill.good").getByText("ready").waitFor();
  // Whatever the program tells is on the page.
  const shown = await page.locator("main").innerText();
  for (const name of ["name", "version", "host_name", "system"]) assert.ok(shown.includes(all[0][name]), `${name}: ${all[0][name]}`);
  for (const words of ["Load", "Memory", "Disk", "Network", "Cores", "Last contact", "Connection", "Accepts tasks"]) assert.ok(shown.includes(words), words);

  // Who the server is on a machine that nobody has answered at is not known: no key is taken for it.
  await page.goto("/me");
  await page.locator("#machines").waitFor();
  assert.equal(await page.locator("#ssh-user").count(), 0);
});

// Every page, in both languages, narrow and wide.
const PAGES = {
  overview: "/", tasks: "/tasks", new: "/new", nodes: "/nodes", gpus: "/gpus", reports: "/reports", "reports-day": "/reports?by=day", me: "/me", api: "/docs/api", missing: "/no/such/page",
  admin: "/admin", quotas: "/admin/quotas", settings: "/admin/settings", commands: "/admin/commands", audit: "/admin/audit", log: "/admin/log",
};
for (const [language, code] of [["en-US", "en"], ["zh-CN", "zh"]]) {
  for (const width of [390, 1400]) {
    await as({ name: `${code}-${width}`, language, width, colours: width === 390 ? "dark" : "light" }, async (visitor, page) => {
      await page.goto("/login");
      await visitor.look("login");
      await logIn(page, "ada", passwords.ada);
      for (const [picture, path] of Object.entries({ ...PAGES, task: `/tasks/${waiting}`, node: `/nodes/${here}`, "node-n9": "/nodes/n9" })) {
        assert.equal(await visitor.go(path), picture === "missing" ? 404 : 200, path);
        await visitor.look(picture);
      }
    });
  }
}

await as({ name: "machines-out" }, async (visitor, page) => {
  await logIn(page, "ada", passwords.ada);
  await page.goto("/nodes/n9");
  await page.locator("button[value=remove]").click();
  await page.locator("button.danger").click();
  await page.waitForURL("**/nodes");
  assert.equal(await visitor.go("/nodes/n9"), 404);
});

let oneTime;
await as({ name: "admin" }, async (visitor, page) => {
  await logIn(page, "ada", passwords.ada);
  await page.goto("/admin");
  await page.locator("#names").fill("bo");
  await page.locator("form[action='/admin/users'] button").click();
  oneTime = await page.locator(".secrets code").innerText();
  await visitor.look("secrets");
  await page.goto("/admin/commands");
  await page.locator("#line").fill("schedule fifo");
  await page.locator("form[action='/admin/commands'] button").click();
  await page.getByRole("status").getByText("the order is fifo").waitFor();
  await visitor.look("command");
  await page.locator("#line").fill("frobnicate");
  await page.locator("form[action='/admin/commands'] button").click();
  await page.getByRole("status").getByText("is not a command").waitFor();
  await page.goto("/me");
  await page.locator("#token-name").fill("ci");
  await page.locator("form.inline button").click();
  assert.match(await page.locator(".secrets code").innerText(), /^danlu_/);
  await page.goto("/admin");
  await visitor.look("admin");
});

await as({ name: "bo" }, async (visitor, page) => {
  await logIn(page, "bo", oneTime);
  assert.equal(new URL(page.url()).pathname, "/me", "a password of somebody else's is changed first");
  await visitor.look("me-first");
  await page.locator("#old").fill(oneTime);
  await page.locator("#new").fill("a password of my own");
  await page.locator("#again").fill("a password of my own");
  await page.locator("form[action='/me/password'] button").click();
  await page.goto("/");
  await visitor.see("My tasks");
  assert.equal(await visitor.go("/admin"), 403);
  await page.goto(`/nodes/${here}`);
  assert.equal(await page.locator(".acts").count(), 0, "only admins act on machines");
  assert.equal(await visitor.go(`/new?edit=${waiting}`), 403);
  await page.goto("/");

  // Meanwhile an admin locks the account.
  const admin = await Visitor.arrive(browser, { base, pictures, name: "locker" });
  await logIn(admin.page, "ada", passwords.ada);
  await admin.page.goto("/admin");
  await admin.page.locator("#u-bo summary").click();
  await admin.page.locator("#u-bo button[value=lock]").click();
  await admin.see("locked");
  problems.push(...(await admin.leave()));
  await page.goto("/");
  assert.equal(new URL(page.url()).pathname, "/login", "a locked account is thrown out");
});

await browser.close();
if (problems.length) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log("all was seen");
