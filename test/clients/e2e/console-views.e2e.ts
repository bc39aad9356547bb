/** Every view of the console with real data: light and dark, wide and narrow, for axe and for the keyboard. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { unless } from "../../needs.ts";
import { BROWSER_LACK, findObstacles, LOOKS, openBrowser, openTab } from "../console/browser.ts";
import { type Filled, fillRecord } from "../console/filled-record.ts";
import { findUnreachable } from "../console/keyboard.ts";
import { openPictures } from "../console/looks.ts";
import { type ServedConsole, signIn, startConsole } from "../console/served-console.ts";

const seen = unless(BROWSER_LACK);
let browser: Browser;
let bench: ServedConsole;
let filled: Filled;

before(async () => {
  if (BROWSER_LACK) return;
  browser = await openBrowser();
  bench = await startConsole();
  filled = await fillRecord(bench);
});

after(async () => {
  await browser?.close();
  await bench?.[Symbol.asyncDispose]();
});

/** Every view with the text that must be on it before it is checked. The names in capitals are of `Filled`. */
const VIEWS: Readonly<Record<string, readonly [path: string, text: string | RegExp]>> = {
  runs: ["runs", "Review the release"],
  run: ["runs/TREE", "reader"],
  "run-call": ["runs/CALLER?node=CALL", "Decided by"],
  "run-turn": ["runs/CALLER?node=TURN", "Request"],
  conversation: ["runs/TREE?tab=conversation", "Release notes"],
  "run-files": ["runs/TREE?tab=files", "summary.md"],
  "run-cost": ["runs/TREE?tab=cost", "writer"],
  events: ["runs/TREE?tab=events", "run_start"],
  approvals: ["approvals", "wants to call"],
  sessions: ["sessions", "Tell me about the release"],
  session: ["sessions/SESSION", "Tell me about the release"],
  playground: ["playground", "Tools of this server"],
  compare: ["compare?a=CALLER&b=OTHER", /First difference|They are the same/],
  cost: ["cost", "custom/talker"],
  tools: ["tools", "secret.md"],
  models: ["models", "Models that may be asked"],
  files: ["files", "handbook.md"],
  stores: ["files?tab=stores", "Handbook"],
  store: ["files/STORE", "handbook.md"],
  keys: ["keys", "narrow"],
  budgets: ["keys?tab=budgets", "narrow"],
  tenants: ["tenants", "default"],
  audit: ["audit", "/v1/admin/keys"],
  system: ["system", "Queues"],
  settings: ["system?tab=settings", "server.host"],
  doctor: ["system?tab=doctor", "Node.js"],
};

async function open(page: Page, name: string): Promise<void> {
  const [path, text] = VIEWS[name] ?? assert.fail(name);
  const named = path.replace(/[A-Z]{3,}/g, (word) => encodeURIComponent(filled[word] ?? word));
  await page.goto(`${bench.url}/console/${named}`);
  await page.locator("main").getByText(text).first().waitFor();
}

describe("every view", () => {
  for (const look of LOOKS) {
    const { width, colorScheme } = look;
    it(...seen(`is sound to axe and fits at ${width} pixels, ${colorScheme}`), async () => {
      await using pictures = await openPictures();
      await using tab = await openTab(browser, look);
      const { page } = tab;
      await signIn(page, bench);
      const found: string[] = [];
      for (const name of Object.keys(VIEWS)) {
        await open(page, name);
        await pictures.take(page, `${name}-${width}-${colorScheme}`);
        found.push(...(await findObstacles(page)).map((one) => `${name}: ${one}`));
        const over = await page.evaluate<number>(
          "document.documentElement.scrollWidth - innerWidth",
        );
        if (over > 0) found.push(`${name}: ${over} pixels wider than the window`);
      }
      assert.deepEqual(found, []);
      assert.deepEqual(tab.troubles, []);
    });
  }

  it(...seen("has nothing that the keyboard does not reach"), async () => {
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, bench);
    const found: string[] = [];
    for (const name of Object.keys(VIEWS)) {
      await open(page, name);
      found.push(...(await findUnreachable(page)).map((one) => `${name}: ${one}`));
    }
    assert.deepEqual(found, []);
  });
});
