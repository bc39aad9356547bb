/**
 * The usage of a run in the line at its end, in `runs tree`, `runs show` and `runs cost`: the same numbers,
 * however the run ended.
 */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Reply, reply, script, type Upstream } from "../../src/testing/index.ts";
import { createPlace, type Ended, type Place } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

const how = { usage: { input: 1000, output: 50 } };
const read = reply.calls([{ name: "read", arguments: { path: "a.txt" } }], how);
const delegate = reply.calls(
  [{ name: "subagent", arguments: { label: "reader", task_prompt: "Read a.txt" } }],
  how,
);
const answer = reply.text("It says hello.", how);
const CUT = reply.silence("It says hello, and much more than that.");

const PRICES = `models:
  custom/test-model:
    context_tokens: 128000
    max_output_tokens: 1000
    price: { input: 100, cached: 10, output: 300 }
`;

interface Interruption {
  readonly signal: "SIGINT" | "SIGKILL";
  /** The request at which it comes. */
  readonly request: number;
  /** True if the answer has begun by then. */
  readonly isAnswering?: true;
}

interface EndingCase {
  readonly name: string;
  readonly replies: readonly Reply[];
  readonly flags?: readonly string[];
  readonly code: number;
  /** A killed run is resumed. */
  readonly interruption?: Interruption;
}

const ENDINGS: readonly EndingCase[] = [
  { name: "that completed", replies: [read, answer], code: 0 },
  { name: "at its last turn", replies: [read, read], flags: ["--max-turns", "1"], code: 3 },
  {
    name: "whose budget does not cover the next call",
    replies: [read, answer],
    flags: ["--max-total-tokens", "1200"],
    code: 4,
  },
  { name: "that was refused", replies: [read, reply.refusal("No.", how)], code: 5 },
  {
    name: "that failed in the middle of an answer",
    replies: [read, reply.failure("It broke.", { ...how, text: "It says" })],
    code: 1,
  },
  {
    name: "out of time in the middle of an answer",
    replies: [read, CUT],
    flags: ["--timeout", "3"],
    code: 124,
  },
  {
    name: "cancelled in the middle of an answer",
    replies: [read, CUT],
    code: 130,
    interruption: { signal: "SIGINT", request: 2, isAnswering: true },
  },
  {
    name: "cancelled before an answer began",
    replies: [read, reply.silence()],
    code: 130,
    interruption: { signal: "SIGINT", request: 2 },
  },
  {
    name: "cancelled while its subagent answers",
    replies: [delegate, read, CUT],
    code: 130,
    interruption: { signal: "SIGINT", request: 3 },
  },
  {
    name: "killed in the middle of an answer and resumed",
    replies: [read, CUT, answer],
    code: 0,
    interruption: { signal: "SIGKILL", request: 2, isAnswering: true },
  },
  {
    name: "killed before an answer began and resumed",
    replies: [reply.silence(), read, answer],
    code: 0,
    interruption: { signal: "SIGKILL", request: 1 },
  },
  {
    name: "killed while its subagent answers and resumed",
    replies: [delegate, read, CUT, answer, answer],
    code: 0,
    interruption: { signal: "SIGKILL", request: 3 },
  },
];

async function runToEnd(place: Place, { replies, flags = [], interruption }: EndingCase) {
  await using upstream = await CHAT.start({ engine: script(...replies) });
  const tools = ["--tools", "read,subagent"];
  const command = place.start(runAt(upstream, CHAT, ...tools, ...flags, "Read a.txt"));
  if (!interruption) return await command.ended;
  await untilMoment(place, upstream, interruption);
  command.child.kill(interruption.signal);
  const ended = await command.ended;
  if (interruption.signal === "SIGINT") return ended;
  return await place.run(["runs", "resume", "last"]);
}

/** A pipe gets the text of a turn with tools when the turn is over, so it is read in the log. */
async function untilMoment(
  place: Place,
  upstream: Upstream,
  { request, isAnswering }: Interruption,
) {
  await upstream.waitForRequest(request);
  if (!isAnswering) return;
  const log = place.start(["runs", "follow", "last", "-o", "jsonl"]);
  await log.waitForStdout('"type":"text_delta"');
  log.child.kill("SIGKILL");
  await log.ended;
}

async function readRecord(place: Place, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await place.run(["runs", ...args]);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** `2 turns · 1 tool call · 2,100 tokens · 0.4 s · $0.23` */
const SUMMARY = /^\d+ turns? · .*\b[\d,]+ tokens · .*$/m;

async function checkFigures(place: Place, { stderr }: Ended): Promise<void> {
  const [summary = "no summary"] = SUMMARY.exec(stderr) ?? [];
  const tree = await readRecord(place, "tree", "last");
  const [, root = ""] = tree.split("\n");
  assert.ok(
    root.includes(` · ${summary} · `) || root.includes(`: ${summary}`),
    `${summary}\n${tree}`,
  );
  const shown = await readRecord(place, "show", "last");
  assert.ok(shown.endsWith(`spent    ${summary}\n`), `${summary}\n${shown}`);
  const [, sum] = /^with \d+ subagents?: (.*)$/m.exec(stderr) ?? [];
  const [, total] = /^total: \d+ runs · (.*)$/m.exec(tree) ?? [];
  assert.equal(sum, total);
  const told = (sum ?? summary).replace(/^.*?([\d,]+) tokens.*$/, "$1").replaceAll(",", "");
  const { rows } = JSON.parse(await readRecord(place, "cost", "last", "--json")) as {
    rows: { input_tokens: number; output_tokens: number }[];
  };
  const used = rows.reduce((all, row) => all + row.input_tokens + row.output_tokens, 0);
  assert.equal(String(used), told);
}

describe("the numbers at the end of a run equal those of the record", () => {
  for (const one of ENDINGS) {
    it(`of one ${one.name}`, async () => {
      await using place = await createPlace({ "a.txt": "hello\n" });
      await mkdir(join(place.home, ".config/offshoot"), { recursive: true });
      await writeFile(join(place.home, ".config/offshoot/config.yaml"), PRICES);
      const ended = await runToEnd(place, one);
      assert.equal(ended.code, one.code, ended.stderr);
      await checkFigures(place, ended);
    });
  }
});
