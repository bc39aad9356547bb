/** Other pages, other names and other tenants get nothing from the console, in a real browser. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { unless } from "../../needs.ts";
import { MARK } from "../console/attacks.ts";
import { BROWSER_LACK, openBrowser, openTab } from "../console/browser.ts";
import { type ServedConsole, signIn, startConsole } from "../console/served-console.ts";

const seen = unless(BROWSER_LACK);
/** A name that an attacker has pointed at this machine. */
const REBOUND = "rebound.test";
let browser: Browser;
let bench: ServedConsole;

before(async () => {
  if (BROWSER_LACK) return;
  browser = await openBrowser(`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`);
  bench = await startConsole();
});

after(async () => {
  await browser?.close();
  await bench?.[Symbol.asyncDispose]();
});

/** A page on another port of this machine. */
async function openStranger(body: string): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html").end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

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

  it(...seen("asks its own server alone, whatever its address says"), async () => {
    await using tab = await openTab(browser);
    const outside = "http://127.0.0.1:9";
    await signIn(tab.page, bench, `runs?server=${outside}&api=${outside}/v1#url=${outside}`);
    await tab.page.getByRole("heading", { name: "Runs" }).waitFor();
    assert.deepEqual(
      tab.asked.filter((address) => !address.startsWith(bench.url)),
      [],
    );
  });
});

describe("a page of another port", () => {
  it(...seen("reads and changes nothing, with a key or without one"), async () => {
    await using stranger = await openStranger("<title>Stranger</title>");
    await using tab = await openTab(browser);
    const { page } = tab;
    await page.goto(stranger.url);
    const tries = await page.evaluate<string[]>(`Promise.all([
      fetch("${bench.url}/v1/runs", { headers: { authorization: "Bearer ${bench.key}" } }),
      fetch("${bench.url}/v1/runs"),
      fetch("${bench.url}/console/"),
      fetch("${bench.url}/v1/console/sessions", {
        method: "POST", headers: { "content-type": "text/plain" }, body: JSON.stringify({ key: "${bench.key}" }),
      }),
    ].map((one) => one.then(() => "read", () => "refused")))`);
    assert.deepEqual(tries, ["refused", "refused", "refused", "refused"]);
    // Without permission to read the answer, the request itself is refused.
    const [status] = await Promise.all([
      page.waitForResponse(`${bench.url}/v1/console/sessions`).then((answer) => answer.status()),
      page.evaluate(`fetch("${bench.url}/v1/console/sessions", {
        method: "POST", mode: "no-cors", body: JSON.stringify({ key: "${bench.key}" }) }).then(() => 0)`),
    ]);
    assert.equal(status, 403);
  });

  it(...seen("cannot frame the console, nor keep a hold of its window"), async () => {
    await using stranger = await openStranger(`<iframe src="${bench.url}/console/"></iframe>`);
    await using tab = await openTab(browser);
    const { page } = tab;
    await page.goto(stranger.url);
    await page.waitForLoadState("networkidle");
    assert.equal(await page.frameLocator("iframe").getByText("Sign in").count(), 0);
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      page.evaluate(`(window.held = open("${bench.url}/console/")) && 0`),
    ]);
    await opened.getByRole("dialog", { name: "Sign in" }).waitFor();
    assert.equal(await page.evaluate("held.closed"), true, "its opener has lost it");
    assert.equal(await opened.evaluate("opener"), null);
  });
});

describe("a name that is pointed at this machine", () => {
  it(...seen("is answered with a refusal, page and API alike"), async () => {
    await using tab = await openTab(browser);
    const { port } = new URL(bench.url);
    const answer = await tab.page.goto(`http://${REBOUND}:${port}/console/`);
    assert.equal(answer?.status(), 403);
    const api = await tab.page.evaluate<number>(
      `fetch("/v1/runs", { headers: { authorization: "Bearer ${bench.key}" } }).then(({ status }) => status)`,
    );
    assert.equal(api, 403);
  });
});

describe("a key of another tenant", () => {
  it(...seen("sees no run of the others, and no view beyond its scopes"), async () => {
    assert.equal((await bench.run("Read the notes").ended).code, 0);
    const { data } = await bench.ask<{ data: { id: string }[] }>("GET", "/v1/runs?search=notes");
    const wish = { name: "stranger", tenant: "elsewhere", scopes: ["runs"] };
    const { token } = await bench.ask<{ token: string }>("POST", "/v1/admin/keys", wish);
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, { url: bench.url, key: token }, `runs/${data[0]?.id}`);
    await page.getByText("There is no such run, or it belongs to another tenant.").waitFor();
    await page.getByRole("link", { name: "All runs" }).click();
    await page.getByText("No runs here.").waitFor();
    assert.equal(await page.getByRole("link", { name: "Keys" }).count(), 0);
    await page.goto(`${bench.url}/console/keys`);
    await page.getByText("This session may not see keys.").waitFor();
  });
});
