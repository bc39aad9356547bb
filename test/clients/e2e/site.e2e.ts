/** The site of the docs in a real browser: built as CONTRIBUTING.md says, searched, read in light and in dark. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { ROOT } from "../../doc-blocks.ts";
import { type Lack, unless } from "../../needs.ts";
import { BROWSER_LACK, openBrowser, openTab } from "../console/browser.ts";

const LACK: Lack =
  BROWSER_LACK ??
  (existsSync(join(ROOT, "site/node_modules"))
    ? undefined
    : "the site's generator is not installed; `npm run docs:site` installs it");
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

let folder = "";
let server: Server | undefined;
let browser: Browser | undefined;
let url = "";

before(async () => {
  if (LACK) return;
  folder = await mkdtemp(join(tmpdir(), "offshoot-site-"));
  const words = ["scripts/with.js", "site", "vitepress", "build", "site", "--outDir", folder];
  await promisify(execFile)(process.execPath, words, { cwd: ROOT });
  server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://site").pathname);
    const file = path.endsWith("/") ? `${path}index.html` : path;
    const named = extname(file) === "" ? `${file}.html` : file;
    readFile(join(folder, named)).then(
      (bytes) => {
        const type = TYPES[extname(named)] ?? "application/octet-stream";
        response.writeHead(200, { "content-type": type }).end(bytes);
      },
      () => response.writeHead(404).end(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  server?.close().closeAllConnections();
  if (folder !== "") await rm(folder, { recursive: true });
});

function openPage(scheme: "light" | "dark") {
  return openTab(browser ?? assert.fail("no browser"), { colorScheme: scheme });
}

/** How bright the page is behind its text, from 0 to 255. */
async function brightnessOf(page: Page): Promise<number> {
  const color = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map(Number);
  return (red + green + blue) / 3;
}

describe("the site of the docs", () => {
  const [name, options] = unless(LACK)("finds a page by a word, and opens it");
  it(name, options, async () => {
    await using tab = await openPage("light");
    const { page, troubles, asked } = tab;
    await page.goto(`${url}/`);
    await page.keyboard.press("Control+k");
    await page.locator("#localsearch-input").fill("webhook signature");
    // The list of the pages with the word comes after that of the first letters.
    await page.locator("#localsearch-list a[href*='/docs/webhooks']").first().click();
    await page.waitForURL("**/docs/webhooks*");
    assert.match(await page.locator("main").innerText(), /webhook-signature/);
    const strange = asked.filter(
      (address) => !address.startsWith(url) && !address.startsWith("data:"),
    );
    assert.deepEqual([troubles, strange], [[], []]);
  });

  const [dark, ...rest] = unless(LACK)("is dark for readers who prefer that, and has a switch");
  it(dark, ...rest, async () => {
    await using light = await openPage("light");
    await light.page.goto(`${url}/docs/delegation`);
    assert.ok((await brightnessOf(light.page)) > 200);
    await using tab = await openPage("dark");
    const { page, troubles } = tab;
    await page.goto(`${url}/docs/delegation`);
    assert.match(await page.locator("main h1").innerText(), /\w/);
    assert.ok((await brightnessOf(page)) < 60);
    await page.locator("button.VPSwitchAppearance").first().click();
    await page.waitForFunction("!document.documentElement.classList.contains('dark')");
    assert.deepEqual(troubles, []);
  });
});
