/**
 * The console in a real browser, with a real server: signing in, runs, a live tree, approvals, and the
 * rest.
 */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { unless } from "../../needs.ts";
import { until } from "../../patience.ts";
import { BROWSER_LACK, findObstacles, openBrowser, openTab } from "../console/browser.ts";
import { type ServedConsole, signIn, startConsole } from "../console/served-console.ts";

const seen = unless(BROWSER_LACK);
let browser: Browser;
let bench: ServedConsole;

before(async () => {
  if (BROWSER_LACK) return;
  browser = await openBrowser();
  bench = await startConsole();
});

after(async () => {
  await browser?.close();
  await bench?.[Symbol.asyncDispose]();
});

const row = (page: Page, text: string) => page.getByRole("listitem").filter({ hasText: text });

describe("signing in", () => {
  it(...seen("takes a key, keeps a session in the tab, and asks for nothing outside"), async () => {
    await using tab = await openTab(browser);
    await signIn(tab.page, bench);
    await tab.page.getByRole("heading", { name: "Runs" }).waitFor();
    await tab.page.reload();
    await tab.page.getByRole("heading", { name: "Runs" }).waitFor();
    assert.equal(await tab.page.getByRole("dialog").count(), 0);
    assert.deepEqual(await findObstacles(tab.page), []);
    assert.ok(
      tab.asked.every((address) => address.startsWith(bench.url)),
      tab.asked.join("\n"),
    );
    assert.ok(!JSON.stringify(await tab.context.storageState()).includes(bench.key));
    assert.deepEqual(tab.troubles, []);
  });

  it(...seen("refuses a wrong key with the reason, and leaves the form usable"), async () => {
    await using tab = await openTab(browser);
    await tab.page.goto(`${bench.url}/console/`);
    await tab.page.getByLabel("Key").fill("osk_wrong");
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("alert").filter({ hasText: /key/i }).waitFor();
    assert.deepEqual(await findObstacles(tab.page), []);
    await tab.page.getByLabel("Key").fill(bench.key);
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("heading", { name: "Runs" }).waitFor();
  });

  it(
    ...seen("asks again over the page when a session has ended, and keeps what was typed"),
    async () => {
      await using tab = await openTab(browser);
      await signIn(tab.page, bench, "playground");
      await tab.page.getByLabel("Prompt").fill("A long thought");
      const { data } = await bench.ask<{ data: { id: string; name: string; state: string }[] }>(
        "GET",
        "/v1/admin/keys",
      );
      for (const { id, state } of data) {
        if (state === "active") await bench.ask("DELETE", `/v1/admin/keys/${id}`);
      }
      await tab.page.getByRole("button", { name: "Send" }).click();
      await tab.page.getByRole("alert").filter({ hasText: "Your session has ended" }).waitFor();
      await tab.page.getByLabel("Key").fill(bench.key);
      await tab.page.keyboard.press("Enter");
      await tab.page.getByRole("dialog").waitFor({ state: "detached" });
      assert.match(await tab.page.locator("main").innerText(), /A long thought/);
    },
  );
});

describe("runs in the console", () => {
  it(
    ...seen("a tree is followed live: one child is stopped, another approved from the inbox"),
    async () => {
      await using tab = await openTab(browser);
      const { page } = tab;
      await signIn(page, bench);
      const command = bench.run("Review the release");
      await row(page, "Review the release").first().waitFor();
      await row(page, "Review the release").first().click();
      const node = (name: string) => page.getByRole("treeitem").filter({ hasText: name });
      await node("slow").first().waitFor();
      await node("writer").first().waitFor();

      await node("slow").first().click();
      await page.getByRole("button", { name: "Stop this one" }).click();
      await page.locator("aside").getByText("cancelled").first().waitFor();

      await page.getByRole("link", { name: /^Approvals/ }).click();
      const question = page.getByRole("article").filter({ hasText: "write" });
      await question.getByText("summary.md").first().waitFor();
      assert.deepEqual(await findObstacles(page), []);
      await question.getByRole("button", { name: "Allow once" }).click();
      await page.getByText("Nothing waits for you.").waitFor();
      const { code, stderr } = await command.ended;
      assert.equal(code, 0, stderr);
      await page.goBack();
      await page.getByText("completed").first().waitFor();
      assert.deepEqual(await findObstacles(page), []);
      assert.deepEqual(tab.troubles, []);
    },
  );

  it(...seen("filters are in the address, and a link with them shows the same"), async () => {
    await until(async () => {
      const { data } = await bench.ask<{ data: object[] }>("GET", "/v1/runs");
      return data.length > 0 ? true : undefined;
    }, "a run");
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, bench, "runs?status=failed");
    await page.getByText("No runs here.").waitFor();
    await page.getByLabel("State").selectOption("completed");
    await row(page, "Review the release").first().waitFor();
    assert.match(page.url(), /\?status=completed$/);
    // A list with the focus handles letters itself.
    await page.getByRole("list", { name: "Runs" }).focus();
    await page.keyboard.press("/");
    await page.keyboard.type("nothing of the kind");
    await page.keyboard.press("Enter");
    await page.getByText("No runs here.").waitFor();
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await row(page, "Review the release").first().waitFor();
    assert.match(page.url(), /\/console\/runs$/);
  });
});

describe("a run in the playground", () => {
  it(...seen("answers with a tool and about a file, and is a run like any other"), async () => {
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, bench, "playground");
    const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Ship it.") };
    await page.locator("input[type=file]").setInputFiles(file);
    await page.getByText("notes.txt").waitFor();
    await page.getByLabel("Prompt").fill("What is in the file?");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Release notes").waitFor();
    await page.getByText(/tokens in, .* out/).waitFor();
    assert.deepEqual(await findObstacles(page), []);
    await page.getByRole("group", { name: "Tools of this server" }).getByLabel("read").check();
    await page.getByLabel("Prompt").fill("Read the notes, please");
    await page.keyboard.press("Control+Enter");
    await page.getByText("The notes say: ship it.").waitFor();
    const said = page.getByRole("article", { name: "assistant" }).last();
    await said.getByText("notes.md").first().waitFor();
    await said.getByRole("link", { name: "Open the run" }).click();
    await page.getByRole("treeitem").filter({ hasText: "read" }).last().click();
    const detail = page.getByRole("complementary", { name: "Detail" });
    await detail.getByText("Ship it.").first().waitFor();
    await page.getByText("completed").first().waitFor();
    assert.deepEqual(tab.troubles, []);
  });
});

describe("a key", () => {
  it(...seen("is made in the console, shown once, and works until it is revoked"), async () => {
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, bench, "keys");
    await page.getByRole("button", { name: "New key" }).click();
    const form = page.getByRole("dialog", { name: "New key" });
    await form.getByLabel("Name").fill("reader");
    await form.getByLabel("runs", { exact: true }).check();
    assert.deepEqual(await findObstacles(page), []);
    await form.getByRole("button", { name: "Create the key" }).click();
    const shown = page.getByRole("dialog", { name: "The key reader" });
    const token = await shown.locator(".secret code").innerText();
    await shown.getByRole("button", { name: "I have stored it" }).click();
    assert.ok(!(await page.locator("body").innerText()).includes(token));
    const used = () =>
      fetch(`${bench.url}/v1/runs`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal((await used()).status, 200);
    await page.getByRole("button", { name: "reader" }).click();
    await page.getByRole("button", { name: "Revoke", exact: false }).first().click();
    const asked = page.getByRole("dialog", { name: "Revoke reader?" });
    await asked.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("row").filter({ hasText: "reader" }).getByText("revoked").waitFor();
    await until(async () => ((await used()).status === 401 ? true : undefined), "its end");
    assert.deepEqual(tab.troubles, []);
  });
});

describe("the replay of a run", () => {
  it(...seen("shows no difference, in a dialog that Escape leaves"), async () => {
    assert.equal((await bench.run("Read the notes").ended).code, 0);
    const { data } = await bench.ask<{ data: { id: string }[] }>("GET", "/v1/runs?search=Read");
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, bench, `runs/${data[0]?.id}`);
    await page.getByRole("button", { name: "Replay" }).click();
    const dialog = page.getByRole("dialog", { name: "Replay" });
    await dialog.getByRole("button", { name: "Replay", exact: true }).click();
    await dialog.getByText("replayed, no difference").waitFor();
    await dialog.getByText("As recorded").waitFor();
    assert.deepEqual(await findObstacles(page), []);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual(tab.troubles, []);
  });
});
