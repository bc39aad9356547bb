/**
 * The console in a real Chromium over a large record: how soon a tree of 50,000 nodes takes keys, how it scrolls, how
 * long a page of 100,000 runs takes, what a live run costs the tab, and how large the answers are.
 * `npm run bench:console`; with `--check` a limit that is exceeded sets exit code 1.
 */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { fillLargeRecord, NODES } from "../../../bench/large-record.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { begin, task, turnStart } from "../../store/noted-events.ts";
import { openBrowser, openTab } from "../console/browser.ts";
import { type ServedConsole, signIn, startConsole } from "../console/served-console.ts";

interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly atMost: number;
}

const BUILT = new URL("../../../../dist/console/", import.meta.url);

await using bench = await startConsole({
  async prepare(storePath) {
    const kept = await openKept(storePath);
    await kept.runs();
    await kept.close();
    await fillLargeRecord(storePath);
  },
});
const browser = await openBrowser();
try {
  const rows = [
    ...(await measureTree()),
    await measureList(),
    await measureLive(),
    measureScript(),
  ];
  for (const { what, value, unit, atMost } of rows) {
    const shown = `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`;
    process.stdout.write(`${shown.padStart(12)}  ${what} (at most ${atMost} ${unit})\n`);
  }
  const isWithin = rows.every(({ value, atMost }) => value <= atMost);
  if (!isWithin && process.argv.includes("--check")) process.exitCode = 1;
} finally {
  await browser.close();
}

/** From the start of the navigation until a key moves the selected row; then all of it is scrolled. */
async function measureTree(): Promise<Row[]> {
  await using tab = await openTab(browser);
  const { page } = tab;
  let largest = 0;
  page.on("response", async (answer) => {
    const body = await answer.body().catch(() => Buffer.alloc(0));
    largest = Math.max(largest, body.length);
  });
  await signIn(page, bench);
  await page.goto(`${bench.url}/console/runs/run_big`, { waitUntil: "commit" });
  const tree = page.getByRole("tree");
  await tree.getByRole("treeitem").nth(20).waitFor();
  await tree.focus();
  await page.keyboard.press("ArrowDown");
  await page.locator("[aria-activedescendant=node-1]").waitFor();
  const keysMs = await page.evaluate<number>("performance.now()");
  await page.getByText(/^50\.5k steps/).waitFor();
  const wholeMs = await page.evaluate<number>("performance.now()");
  const scrollMs = await measureScroll(page);
  const inPage = await page.evaluate<number>("document.querySelectorAll('[role=treeitem]').length");
  return [
    { what: `a tree of ${NODES} nodes takes keys`, value: keysMs, unit: "ms", atMost: 1500 },
    { what: "all its nodes are there", value: wholeMs, unit: "ms", atMost: 5000 },
    { what: "p95 of a frame while it is scrolled", value: scrollMs, unit: "ms", atMost: 25 },
    { what: "rows of it in the page", value: inPage, unit: "rows", atMost: 200 },
    { what: "the largest answer", value: largest / 1e6, unit: "MB", atMost: 2 },
  ];
}

/** The 95th percentile of 180 frames, each of which scrolls 400 pixels, in milliseconds. */
async function measureScroll(page: Page): Promise<number> {
  return await page.evaluate<number>(`new Promise((resolve) => {
    const list = document.querySelector("[role=tree]");
    const frames = [];
    let last = performance.now();
    const step = (now) => {
      frames.push(now - last);
      last = now;
      list.scrollTop += 400;
      if (frames.length < 180) requestAnimationFrame(step);
      else resolve(frames.slice(5).sort((a, b) => a - b)[Math.floor(175 * 0.95)]);
    };
    requestAnimationFrame(step);
  })`);
}

/** The slowest of several queries, each the best of five. */
async function measureList(): Promise<Row> {
  const queries = ["", "status=failed", "search=long", "model=acme%2Fmodel-7", "after_middle"];
  let slowest = 0;
  for (const query of queries) {
    const path =
      query === "after_middle" ? `/v1/runs?after=${await readMiddle(bench)}` : `/v1/runs?${query}`;
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5; round++) {
      const start = performance.now();
      const { data } = await bench.ask<{ data: object[] }>("GET", path);
      if (data.length === 0) throw new Error(`${path} lists nothing`);
      best = Math.min(best, performance.now() - start);
    }
    slowest = Math.max(slowest, best);
  }
  return { what: "a page of 100,000 runs, over HTTP", value: slowest, unit: "ms", atMost: 100 };
}

async function readMiddle({ ask }: ServedConsole): Promise<string> {
  const { next } = await ask<{ next: string }>("GET", "/v1/runs?to=1970-01-01&limit=50");
  return encodeURIComponent(next ?? "");
}

/** The processor time of the tab for each second in which a run that it follows writes 100 events. */
async function measureLive(): Promise<Row> {
  const kept = await openKept(bench.storePath);
  const store = await kept.runs();
  await begin(store, task("run_live", { title: "Live", created_at_ms: Date.now() }));
  const item = { type: "message", role: "assistant", content: [] } as never;
  await store.append("run_live", 1, 0, [turnStart(1, 0), { type: "item_start", index: 0, item }]);
  await using tab = await openTab(browser);
  const { page } = tab;
  await signIn(page, bench, "runs/run_live");
  await page.getByRole("treeitem").filter({ hasText: "turn 1" }).waitFor();
  let seq = 2;
  const write = async (seconds: number): Promise<void> => {
    for (let round = 0; round < seconds * 10; round++) {
      const started = performance.now();
      const events = Array.from({ length: 10 }, (_, at): RunEvent => {
        return { type: "text_delta", index: 0, part: 0, delta: `word ${seq + at} ` };
      });
      await store.append("run_live", 1, seq, events);
      seq += events.length;
      await sleep(Math.max(0, 100 - (performance.now() - started)));
    }
  };
  await write(2);
  const before = await readCpu(browser);
  const startMs = performance.now();
  await write(10);
  const seconds = (performance.now() - startMs) / 1000;
  const cpu = await readCpu(browser);
  await page
    .getByText(`word ${seq - 1}`)
    .first()
    .waitFor();
  await kept.close();
  const value = (cpu - before) / seconds;
  return { what: "a live run of 100 events a second costs", value, unit: "cores", atMost: 0.1 };
}

/** Seconds of processor time of all tabs. */
async function readCpu(of: Browser): Promise<number> {
  const session = await of.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo
    .filter(({ type }) => type === "renderer")
    .reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

function measureScript(): Row {
  const bytes = readdirSync(BUILT)
    .filter((name) => name.endsWith(".js"))
    .reduce((sum, name) => sum + gzipSync(readFileSync(new URL(name, BUILT))).length, 0);
  return { what: "the script, compressed", value: bytes / 1000, unit: "kB", atMost: 100 };
}
