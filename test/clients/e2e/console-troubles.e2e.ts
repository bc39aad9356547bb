/**
 * Failures while the console is open: the page reports them in place, keeps typed text, and recovers by
 * itself.
 */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { unless } from "../../needs.ts";
import { until } from "../../patience.ts";
import {
  begin,
  finish,
  task,
  toolEnd,
  toolStart,
  turnEnd,
  turnStart,
} from "../../store/noted-events.ts";
import { BROWSER_LACK, openBrowser, openTab } from "../console/browser.ts";
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

async function findRun(words: string, status = ""): Promise<string> {
  const query = new URLSearchParams({ search: words, ...(status ? { status } : {}) });
  return await until(async () => {
    const { data } = await bench.ask<{ data: { id: string }[] }>("GET", `/v1/runs?${query}`);
    return data[0]?.id;
  }, words);
}

const atRecord = () => ({ env: { OFFSHOOT_STORE: bench.storePath } });

/** A reload would remove this. */
const mark = (page: Page): Promise<unknown> => page.evaluate("window.isSame = true");
const isSame = (page: Page): Promise<unknown> => page.evaluate("window.isSame");

describe("a run that is deleted while it is open", () => {
  it(...seen("says so, and leaves what was read on the page"), async () => {
    assert.equal((await bench.run("Read the notes").ended).code, 0);
    const id = await findRun("Read the notes");
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, bench, `runs/${id}`);
    await page.getByRole("treeitem").filter({ hasText: "turn 2" }).waitFor();
    await mark(page);
    assert.equal((await bench.place.run(["runs", "delete", id], atRecord())).code, 0);
    await page.getByText("This run was deleted while you looked at it.").waitFor();
    await page.getByRole("heading", { name: "Read the notes" }).waitFor();
    assert.equal(await isSame(page), true);
  });

  it(...seen("tells that of one that it follows live, too"), async () => {
    const command = bench.run("Wait for the slow one, to delete it");
    const id = await findRun("to delete it");
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, bench, `runs/${id}`);
    await page.getByText("I am thinking about it").waitFor();
    await page.getByLabel("A message for the run").fill("Hurry");
    assert.equal((await bench.place.run(["runs", "delete", "--force", id], atRecord())).code, 0);
    await page.getByText("This run was deleted while you looked at it.").waitFor();
    assert.equal(await page.getByText("I am thinking about it").count(), 1);
    await command.ended;
  });
});

describe("a server that restarts", () => {
  it(...seen("is waited for; the page is live again and has what was typed"), async () => {
    await using own = await startConsole();
    await using tab = await openTab(browser);
    const { page } = tab;
    await signIn(page, own, "playground");
    await page.getByLabel("Prompt").fill("A long thought");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByText("No runs here.").waitFor();
    await mark(page);
    await own.restart(async () => {
      await page
        .getByText(/does not answer|was lost/)
        .first()
        .waitFor();
    });
    assert.equal((await own.run("Read the notes").ended).code, 0);
    await page.getByRole("listitem").filter({ hasText: "Read the notes" }).waitFor();
    assert.equal(await page.getByText(/does not answer|was lost/).count(), 0);
    await page.getByRole("link", { name: "Playground" }).click();
    assert.equal(await page.getByLabel("Prompt").inputValue(), "A long thought");
    assert.equal(await isSame(page), true);
  });
});

describe("a question that is answered elsewhere", () => {
  it(
    ...seen("says what was decided on its card, and keeps the reason that was typed"),
    async () => {
      const command = bench.run("Write the summary", "--approval-wait", "600");
      await using tab = await openTab(browser);
      const { page } = tab;
      await signIn(page, bench, "approvals");
      const card = page.getByRole("article", { name: "write waits for approval" });
      await card.getByLabel("Why, for the model").fill("Not on a Friday");
      const id = await findRun("Write the summary");
      assert.equal(
        (await bench.place.run(["runs", "approve", id, "tool:1.0"], atRecord())).code,
        0,
      );
      await card.getByText("It was answered elsewhere: allowed.").waitFor();
      await card.getByText("Not on a Friday").waitFor();
      await card.getByRole("button", { name: "Put away" }).click();
      await page.getByText("Nothing waits for you.").waitFor();
      await command.ended;
    },
  );
});

describe("a tree that grows while it is scrolled", () => {
  it(...seen("keeps the rows that are looked at where they are"), async () => {
    const command = bench.run("Grow a tree");
    const id = await findRun("Grow a tree");
    await using tab = await openTab(browser, { height: 600 });
    const { page } = tab;
    await signIn(page, bench, `runs/${id}`);
    const tree = page.getByRole("tree");
    await page.getByRole("article", { name: "write waits for approval" }).waitFor();
    // The question may be there before the rows above it.
    const scroll = (): Promise<number> =>
      tree.evaluate((list) => {
        list.scrollTo(0, 700);
        return list.scrollTop;
      });
    await until(async () => ((await scroll()) === 700 ? true : undefined), "enough rows");
    const rows = (): Promise<number> => tree.evaluate((list) => list.scrollHeight);
    const height = await rows();
    const asked = await bench.ask<{ data: { run_id: string; question: string }[] }>(
      "GET",
      "/v1/approvals",
    );
    const question = asked.data.find(({ run_id }) => run_id === id)?.question;
    await bench.ask("POST", `/v1/runs/${id}/answer`, { question, answer: "yes" });
    await until(async () => ((await rows()) > height + 30 * 28 ? true : undefined), "more rows");
    assert.equal(await tree.evaluate((list) => list.scrollTop), 700);
    await command.ended;
    await page.getByText("completed").first().waitFor();
  });
});

describe("a body of 100 MB", () => {
  it(...seen("is cut, said to be, and read a piece at a time"), async () => {
    const kept = await openKept(bench.storePath);
    const store = await kept.runs();
    await begin(store, task("run_large", { title: "A large body" }));
    const end = toolEnd("c", "read", 30, false) as Extract<RunEvent, { type: "tool_end" }>;
    const item = {
      type: "function_call_output",
      call_id: "c",
      output: "large ".repeat(17e6),
    } as const;
    await store.append("run_large", 1, 0, [
      ...[turnStart(1, 0), turnEnd(1, 10, { usd: 1 }), toolStart("c", "read", 20)],
      { ...end, item },
    ]);
    await finish(store, "run_large", "completed");
    await kept.close();
    await using tab = await openTab(browser);
    const { page } = tab;
    const sizes: number[] = [0];
    page.on("response", (answer) => {
      sizes.push(Number(answer.headers()["content-length"] ?? 0));
    });
    await signIn(page, bench, "runs/run_large?tab=conversation");
    const call = page.locator("details.call");
    await call.locator("summary").click();
    await call.getByText("Shortened: the whole text has 102.0M characters.").waitFor();
    await call.getByRole("button", { name: "Show it" }).click();
    await call.getByText(/of 102.0M characters are shown/).waitFor();
    await page.goto(`${bench.url}/console/runs/run_large?node=run_large%3A2`);
    await page.getByText("Decided by").waitFor();
    await page.goto(`${bench.url}/console/runs/run_large?tab=events`);
    await page.getByText("tool_end").waitFor();
    assert.ok(Math.max(...sizes) < 2_000_000, `${Math.max(...sizes)} bytes`);
    assert.deepEqual(tab.troubles, []);
  });
});
