/** Attacks of models, tools and other pages on the console have no effect, in a real browser. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Locator } from "playwright-core";
import { unless } from "../../needs.ts";
import { ATTACKS, MARK } from "../console/attacks.ts";
import { BROWSER_LACK, openBrowser, openTab, type Tab } from "../console/browser.ts";
import { type ServedConsole, signIn, startConsole } from "../console/served-console.ts";

const seen = unless(BROWSER_LACK);
let browser: Browser;
let bench: ServedConsole;
let tab: Tab;

before(async () => {
  if (BROWSER_LACK) return;
  browser = await openBrowser();
  bench = await startConsole();
  const rows = Object.values(ATTACKS).entries();
  for (const [at, text] of rows) await writeFile(join(bench.place.cwd, `attack-${at}.md`), text);
  tab = await openTab(browser);
  await signIn(tab.page, bench);
});

after(async () => {
  await browser?.close();
  await bench?.[Symbol.asyncDispose]();
});

/** Elements that the page's own parts do not contain. Its own icons have a class. */
const FOREIGN =
  "script, iframe, object, embed, base, meta, link, style, form, dialog, img, math, template, [style], .question, svg:not(.icon)";

/** Fails if the text has become more than text, ran, or requested an outside address. */
async function assertHarmless(said: Locator): Promise<void> {
  const { page } = tab;
  assert.deepEqual(
    await said.locator(FOREIGN).evaluateAll((all) => all.map(({ outerHTML }) => outerHTML)),
    [],
  );
  for (const link of await said.getByRole("link").all()) {
    const href = (await link.getAttribute("href")) ?? "";
    if (href.startsWith("/console/runs/")) continue;
    assert.match(href, /^https?:/);
    assert.equal(await link.getAttribute("rel"), "noopener noreferrer nofollow");
  }
  assert.equal(await page.evaluate(`window.${MARK}`), undefined);
  assert.deepEqual(
    tab.asked.filter((address) => !/^(blob:)?http/.test(address) || !address.includes(bench.url)),
    [],
  );
  assert.deepEqual(tab.troubles, []);
}

describe("an answer of a model in the console", () => {
  for (const name of Object.keys(ATTACKS)) {
    it(...seen(`is only text: ${name}`), async () => {
      const { page } = tab;
      const { id } = await bench.served.create({ input: `Say: ${name}`, store: true });
      await page.goto(`${bench.url}/console/runs/${id.replace("resp_", "run_")}?tab=conversation`);
      const said = page.getByRole("article", { name: "assistant" });
      await said.getByText("The end.").waitFor();
      await assertHarmless(said);
    });
  }

  it(...seen("is only text while it is written, too"), async () => {
    const { page } = tab;
    await page.goto(`${bench.url}/console/playground`);
    for (const name of ["a picture with a handler", "a remote picture", "a link of script"]) {
      await page.getByLabel("Prompt").fill(`Say: ${name}`);
      await page.keyboard.press("Control+Enter");
      const said = page.getByRole("article", { name: "assistant" }).last();
      await said.getByText("The end.").waitFor();
      await said.getByText(/tokens in/).waitFor();
      const answer = said.locator(".markdown");
      await assertHarmless(answer);
    }
  });
});

describe("a tool's result in the console", () => {
  it(...seen(`is only text, with each of ${Object.keys(ATTACKS).length} rows`), async () => {
    const { page } = tab;
    assert.equal((await bench.run("Read what others wrote").ended).code, 0);
    const found = await bench.ask<{ data: { id: string }[] }>("GET", "/v1/runs?search=others");
    const id = found.data[0]?.id ?? assert.fail("no run");
    await page.goto(`${bench.url}/console/runs/${id}?tab=conversation`);
    const calls = page.locator("details.call");
    await calls.last().waitFor();
    assert.equal(await calls.count(), Object.keys(ATTACKS).length);
    await calls.evaluateAll((all) => {
      for (const one of all) one.setAttribute("open", "");
    });
    await page.getByText("Deletes nothing").last().waitFor();
    await assertHarmless(page.locator("main .conversation"));
    await page.goto(`${bench.url}/console/runs/${id}`);
    await page.getByRole("treeitem").filter({ hasText: "read" }).nth(2).click();
    await page.getByRole("complementary", { name: "Detail" }).getByText("Decided by").waitFor();
    await assertHarmless(page.getByRole("complementary", { name: "Detail" }));
  });

  it(...seen("cannot look like another question than the one that waits"), async () => {
    const { page } = tab;
    const command = bench.run("Keep what others wrote");
    await page.goto(`${bench.url}/console/approvals`);
    const question = page.getByRole("article").filter({ hasText: "write" });
    await question.getByText("Deletes nothing").first().waitFor();
    assert.equal(await page.getByRole("button", { name: "Allow once" }).count(), 1);
    const inside = question.locator(".code, .diff").first();
    await assertHarmless(inside);
    // Text that runs backwards stays within its line, and is named.
    assert.match(await inside.innerText(), /U\+202E/);
    await question.getByRole("button", { name: "Deny" }).click();
    await command.ended;
    await page.getByText("Nothing waits for you.").waitFor();
    await assertHarmless(page.locator("main"));
  });
});
