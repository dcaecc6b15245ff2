// Somebody gives an SSH user name and key for a machine where the server is not root.
// Arguments: the server's address, the browser, where pictures go; name, password, SSH user name and key are in the environment.
import assert from "node:assert/strict";
import { logIn, openBrowser, Visitor } from "./visitor.mjs";

const [base, program, pictures] = process.argv.slice(2);
const { NAME, PASSWORD, SSH_USER, KEY } = process.env;
const browser = await openBrowser(program);
const visitor = await Visitor.arrive(browser, { base, pictures, name: "key" });
const { page } = visitor;
page.setDefaultTimeout(20000);

async function give(key) {
  await page.goto("/me");
  await page.locator("#ssh-user").fill(SSH_USER);
  await page.locator("#key").fill(key);
  await page.locator("form:has(#key) button").click();
}

await logIn(page, NAME, PASSWORD);
await give("not a key");
await visitor.see("not an OpenSSH private key");
await give(KEY);
await page.locator(".list").getByText("ssh-ed25519 SHA256:").waitFor();
assert.ok(!(await page.content()).includes(KEY.split("\n")[2]), "a key is never shown");
await visitor.look("me-key");
const problems = await visitor.leave();
await browser.close();
assert.deepEqual(problems, []);
