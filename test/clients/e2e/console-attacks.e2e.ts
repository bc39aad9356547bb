/** What models and tools say is shown in the console and does nothing, with the content policy and without its help. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
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
  tab = await openTab(browser);
  await signIn(tab.page, bench);
});

after(async () => {
  await browser?.close();
  await bench?.[Symbol.asyncDispose]();
});

const FOREIGN = "script, iframe, object, embed, base, meta, link, style, form, dialog, img, svg";

describe("an answer of a model in the console", () => {
  for (const name of Object.keys(ATTACKS)) {
    it(...seen(`is only text: ${name}`), async () => {
      const { page } = tab;
      const { id } = await bench.served.create({ input: `Say: ${name}`, store: true });
      await page.goto(`${bench.url}/console/runs/${id.replace("resp_", "run_")}?tab=conversation`);
      const said = page.getByRole("region", { name: "assistant" });
      await said.getByText("The end.").waitFor();
      assert.equal(await said.locator(FOREIGN).count(), 0);
      assert.equal(await said.locator("[style], .question").count(), 0);
      for (const link of await said.getByRole("link").all()) {
        assert.match((await link.getAttribute("href")) ?? "", /^https?:/);
        assert.equal(await link.getAttribute("rel"), "noopener noreferrer nofollow");
      }
      assert.equal(await page.evaluate(`window.${MARK}`), undefined);
      const outside = tab.asked.filter((address) => !address.startsWith(bench.url));
      assert.deepEqual(outside, []);
      assert.deepEqual(tab.troubles, []);
    });
  }
});

describe("the page itself", () => {
  it(...seen("refuses script and pictures even where an element got into it"), async () => {
    await using other = await openTab(browser);
    const { page } = other;
    await page.goto(`${bench.url}/console/`);
    const refused = await page.evaluate<string>(`(() => {
      try { document.body.innerHTML = "<img src=x onerror=window.${MARK}=1>"; return "taken"; }
      catch (error) { return error.name; }
    })()`);
    assert.equal(refused, "TypeError");
    await page.evaluate(`(() => {
      const picture = document.createElement("img");
      const gone = new Promise((resolve) => { picture.onerror = resolve; });
      picture.src = "http://127.0.0.1:9/leak.png";
      document.body.append(picture);
      return gone.then(() => 0);
    })()`);
    assert.ok(other.troubles.some((line) => /Content Security Policy/.test(line)));
  });

  it(...seen("is not shown inside another page, and answers nothing to one"), async () => {
    await using other = await openTab(browser);
    const { page } = other;
    await page.route("http://other.test/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<iframe src="${bench.url}/console/"></iframe>`,
      }),
    );
    await page.goto("http://other.test/");
    await page.waitForLoadState("networkidle");
    assert.equal(await page.frameLocator("iframe").getByText("Sign in").count(), 0);
    const read = await page.evaluate<string>(
      `fetch("${bench.url}/v1/runs", { headers: { authorization: "Bearer ${bench.key}" } }).then(() => "read", () => "refused")`,
    );
    assert.equal(read, "refused");
  });
});
