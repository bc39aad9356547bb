/**
 * `offshoot run` on a model with a small window, for longer than fits into it: the window is that of a
 * vendor of the user's own, and the scripted server refuses what does not fit.
 */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { RunCompaction, RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import {
  type Reply,
  reply,
  respond,
  type Script,
  startChatUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { readBlocks } from "../doc-blocks.ts";
import { createPlace, type Place } from "./command.ts";

const WINDOW = 3000;
const FILES = 20;

/** A few of them fill the window. */
function filesOf(): Record<string, string> {
  const names = Array.from({ length: FILES }, (_, at) => `${at + 1}.txt`);
  return Object.fromEntries(names.map((name) => [name, `About ${name}. ${"word ".repeat(200)}\n`]));
}

const BLOCK = readBlocks("docs/long-runs.md").find(({ text }) => text.includes("Replaced "));
/** The line that the page shows. */
const SHOWN = /^Replaced .*$/m.exec(BLOCK?.text ?? "")?.[0] ?? assert.fail("no line on the page");

/** Without its numbers; a model without a price has no cost. */
function toForm(line: string): string {
  return line.replace(/, (?:\$[\d.]+|price unknown)\.$/, ".").replace(/[\d,]*\d/g, "N");
}

interface Settings {
  /** True if the settings say how large the window is. */
  readonly isKnown: boolean;
  readonly price?: boolean;
}

async function createLongPlace({ url }: Upstream, { isKnown, price }: Settings): Promise<Place> {
  const place = await createPlace(filesOf());
  const folder = join(place.home, ".config/offshoot");
  await mkdir(folder, { recursive: true });
  const facts = [
    ...(isKnown ? [`context_tokens: ${WINDOW}`] : []),
    ...(price ? ["price: {input: 100, output: 100}"] : []),
  ];
  const vendor = `  own: {url: "${url}", models: {small: {${facts.join(", ")}}}}\n`;
  await writeFile(join(folder, "config.yaml"), `vendors:\n${vendor}`);
  return place;
}

function sizeOf({ items, instructions = "", tools }: ModelRequest): number {
  return Math.ceil(JSON.stringify([items, instructions, tools]).length / 3);
}

const isSummary = ({ instructions = "" }: ModelRequest): boolean =>
  instructions.startsWith("You write the memory");

/** The last file that was read, by the conversation. */
function lastRead({ items }: ModelRequest): number {
  const call = items.findLast((item) => item.type === "function_call");
  const path = call?.type === "function_call" ? /(\d+)\.txt/.exec(call.arguments)?.[1] : undefined;
  return Number(path ?? 0);
}

/** Reads one file after the other; refuses input that is too long. `change` may replace an answer. */
function createReader(
  change: (request: ModelRequest) => Reply | undefined = () => undefined,
): Script {
  return respond((request) => {
    const input = sizeOf(request);
    if (input > WINDOW) return TOO_LONG;
    const changed = change(request);
    if (changed) return changed;
    if (isSummary(request)) return reply.text("MEMORY: all as it should be.");
    const next = lastRead(request) + 1;
    const usage = { usage: { input, output: 20 } };
    if (next > FILES) return reply.text(`Read ${FILES} files.`, usage);
    return reply.calls([{ name: "read", arguments: { path: `${next}.txt` } }], usage);
  });
}

const TOO_LONG = reply.status(
  400,
  JSON.stringify({
    error: {
      message: "This model's maximum context length is 3000 tokens.",
      type: "invalid_request_error",
      code: "context_length_exceeded",
    },
  }),
);

const ARGS = ["run", "-m", "own/small", "--tools", "read"];

async function runLong(place: Place, ...more: string[]) {
  const ended = await place.run([...ARGS, ...more, "Read all files."]);
  const [id = ""] = await place.runIds();
  const shown = await place.show(id);
  const compactions = shown.events.filter((event) => event.type === "compaction");
  return { ended, id, shown, compactions };
}

describe("offshoot run, for longer than its model's window", { concurrency: 2 }, () => {
  it("ends with the vendor's error if compaction is off", async () => {
    await using upstream = await startChatUpstream({ engine: createReader() });
    await using place = await createLongPlace(upstream, { isKnown: true });
    const { ended, shown } = await runLong(place, "--compact", "off");
    assert.notEqual(ended.code, 0);
    assert.match(ended.stderr, /maximum context length/);
    const end = shown.events.at(-1);
    assert.equal(end?.type === "run_end" && end.error?.code, "context_exceeded");
  });

  for (const isKnown of [true, false]) {
    it(`completes with a window that is ${isKnown ? "known" : "unknown"}`, async () => {
      await using upstream = await startChatUpstream({ engine: createReader() });
      await using place = await createLongPlace(upstream, { isKnown });
      const { ended, id, shown, compactions } = await runLong(place);
      assert.deepEqual([ended.code, ended.stdout], [0, `Read ${FILES} files.\n`], ended.stderr);
      assert.ok(compactions.length > 1);
      const lines = ended.stderr.match(
        /^Replaced \d+ items of the conversation with a summary: .*$/gm,
      );
      assert.equal(lines?.length, compactions.length, ended.stderr);
      for (const line of lines ?? []) assert.equal(toForm(line), toForm(SHOWN), line);
      assert.equal(countRead(shown.events), FILES, "no file is read twice");

      const text = await place.run(["runs", "show", id]);
      assert.equal(text.stdout.match(/^compact {2}Replaced/gm)?.length, compactions.length);
      const asked = upstream.requests.length;
      const replayed = await place.run(["runs", "replay", id]);
      assert.equal(replayed.code, 0, replayed.stderr);
      assert.equal(upstream.requests.length, asked, "a replay sends nothing");
    });
  }

  it("reports it in the log that `-o jsonl` writes, and counts it in `-o json`", async () => {
    await using upstream = await startChatUpstream({ engine: createReader() });
    await using place = await createLongPlace(upstream, { isKnown: true, price: true });
    const lines = await place.run([...ARGS, "-o", "jsonl", "Read all files."]);
    const events = lines.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as RunEvent);
    const made = events.filter((event): event is RunCompaction => event.type === "compaction");
    assert.ok(made.length > 1 && made.every(({ summary }) => summary.startsWith("MEMORY")));
    const document = await place.run([...ARGS, "-o", "json", "Read all files."]);
    const { run_id, usage, cost_usd } = JSON.parse(document.stdout) as {
      run_id: string;
      usage: { total_tokens: number };
      cost_usd: number;
    };
    const shown = await place.show(run_id);
    const paid = shown.events.filter(({ type }) => type === "turn_end" || type === "compaction");
    const tokens = (paid as RunCompaction[]).reduce((sum, one) => sum + one.usage.total_tokens, 0);
    assert.equal(usage.total_tokens, tokens);
    assert.ok(Math.abs(cost_usd - (tokens * 100) / 1_000_000) < 1e-6);
  });

  it("ends at `--max-cost` like every run, and buys no summary beyond it", async () => {
    for (const most of ["0.2", "1.2", "1.4"]) {
      await using upstream = await startChatUpstream({ engine: createReader() });
      await using place = await createLongPlace(upstream, { isKnown: true, price: true });
      const { ended, shown } = await runLong(place, "--max-cost", most);
      assert.equal(ended.code, 4, ended.stderr);
      const end = shown.events.at(-1);
      assert.ok(end?.type === "run_end" && end.ending === "budget");
      assert.ok((end.cost_usd ?? 0) <= Number(most) * 1.05, `${end.cost_usd} of ${most}`);
    }
  });

  const KILLS: readonly { name: string; at: (request: ModelRequest) => boolean }[] = [
    { name: "while the summary is written", at: isSummary },
    {
      name: "between the summary and the next turn",
      at: ({ items }) => /Summary of the conversation so far/.test(JSON.stringify(items)),
    },
  ];
  for (const { name, at } of KILLS) {
    it(`continues where it was when it was killed ${name}`, async () => {
      let isHung = false;
      const engine = createReader((request) => {
        if (isHung || !at(request)) return undefined;
        isHung = true;
        return reply.silence();
      });
      await using upstream = await startChatUpstream({ engine });
      await using place = await createLongPlace(upstream, { isKnown: true });
      const command = place.start([...ARGS, "-o", "jsonl", "Read all files."]);
      const before = await waitUntilHung(upstream, () => isHung);
      command.child.kill("SIGKILL");
      await command.ended;
      const [id = ""] = await place.runIds();
      const ended = await place.run(["runs", "resume", id]);
      assert.deepEqual([ended.code, ended.stdout], [0, `Read ${FILES} files.\n`], ended.stderr);
      // Requests in flight are repeated, word for word.
      assert.deepEqual(upstream.requests[before]?.body, upstream.requests[before - 1]?.body);
      const { events } = await place.show(id);
      assert.equal(countRead(events), FILES);
      const replayed = await place.run(["runs", "replay", id]);
      assert.equal(replayed.code, 0, replayed.stderr);
    });
  }

  const CHILDREN = [
    { executor: "in_process", mode: "auto" },
    { executor: "in_process", mode: "off" },
    { executor: "child_process", mode: "auto" },
    { executor: "child_process", mode: "off" },
  ] as const;
  for (const { executor, mode } of CHILDREN) {
    it(`gives a subagent its parent's setting, which is ${mode}, with ${executor}`, async () => {
      const engine = createReader((request) => {
        if (JSON.stringify(request.items[0]).includes("Delegate.")) {
          const hasReport = request.items.some(({ type }) => type === "function_call_output");
          const task = { label: "reader", task_prompt: "Read all files." };
          return hasReport
            ? reply.text(JSON.stringify(request.items.at(-1)))
            : reply.calls([{ name: "subagent", arguments: task }]);
        }
        return undefined;
      });
      await using upstream = await startChatUpstream({ engine });
      await using place = await createLongPlace(upstream, { isKnown: true });
      const args = ["run", "-m", "own/small", "--tools", "read,subagent", "--compact", mode];
      const env = {
        OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor,
        OFFSHOOT_AGENT_SUBAGENT_DEFAULT_MAX_TURNS: "40",
      };
      const ended = await place.run([...args, "Delegate."], { env });
      const done = new RegExp(`Read ${FILES} files`);
      if (mode === "auto") assert.match(ended.stdout, done, ended.stderr);
      else assert.match(ended.stdout, /maximum context length/, ended.stderr);
    });
  }
});

async function waitUntilHung(upstream: Upstream, isHung: () => boolean): Promise<number> {
  for (let count = 1; ; count++) {
    await upstream.waitForRequest(count);
    if (isHung() && upstream.requests.length === count) return count;
  }
}

function countRead(events: readonly RunEvent[]): number {
  const paths = events.flatMap((event) => (event.type === "tool_end" ? [event.call_id] : []));
  return paths.length;
}
