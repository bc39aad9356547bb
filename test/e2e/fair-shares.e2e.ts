/**
 * Many children of one turn with one budget: where their needs fit into it, all of them do their work;
 * where they do not, the tree keeps to it and says who was not run.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type JsonObject, tryParseJson } from "../../src/base/json.ts";
import { dropReportWish } from "../../src/protocol/report-wish.ts";
import type { RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply, respond, type Script } from "../../src/testing/index.ts";
import { createPlace } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

const READ = { name: "read", arguments: '{"path":"a.txt"}' };
const USAGE = { input: 1000, output: 200 };
const CALL_TOKENS = 1200;
/** What a call may take at most is set aside before it is made. */
const HEADROOM = 12_000;

/** A third of the children need more than their equal share. */
const callsOf = (child: number): number => (child % 3 === 0 ? 5 : 2);

function needOf(children: number): number {
  let calls = 2;
  for (let child = 0; child < children; child++) calls += callsOf(child);
  return calls * CALL_TOKENS;
}

function firstAsked({ items }: ModelRequest): string {
  const first = items.find((item) => item.type === "message" && item.role === "user");
  return first?.type === "message" ? dropReportWish(String(first.content)) : "";
}

/** The root starts so many children in one turn, by this tool; each reads as often as it needs to. */
function delegating(children: number, tool: string): Script {
  const names = Array.from({ length: children }, (_, at) => `child ${at}`);
  const calls = names.map((name) => ({
    name: tool,
    arguments: JSON.stringify(
      tool === "subagent"
        ? { label: name, task_prompt: name }
        : { prompt: name, tool_subset: ["read"] },
    ),
  }));
  return respond((request) => {
    const asked = firstAsked(request);
    const outputs = request.items.filter(({ type }) => type === "function_call_output").length;
    const how = { usage: USAGE };
    if (asked === "go") return outputs > 0 ? reply.text("done", how) : reply.calls(calls, how);
    const child = Number(asked.slice("child ".length));
    if (outputs + 1 < callsOf(child)) return reply.calls([READ], how);
    return reply.text(`${asked} is done`, how);
  });
}

interface Trial {
  readonly children: number;
  readonly tokens: number;
  readonly executor: "in_process" | "child_process";
  readonly tool?: "subagent" | "call_subagent";
}

interface Tried {
  readonly end: RunEnd;
  readonly endings: Readonly<Record<string, number>>;
  /** What the root's model was told of each child. */
  readonly told: readonly string[];
}

async function tryFamily({ children, tokens, executor, tool = "subagent" }: Trial): Promise<Tried> {
  await using place = await createPlace({ "a.txt": "1\n" });
  await using upstream = await CHAT.start({ engine: delegating(children, tool) });
  const flags = ["--tools", `read,${tool}`, "--max-total-tokens", String(tokens)];
  const ended = await place.run(
    [...runAt(upstream, CHAT, "go"), ...flags, "--output", "jsonl", "--quiet"],
    { env: { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor } },
  );
  assert.equal(ended.code, 0, ended.stderr);
  const lines = ended.stdout.trimEnd().split("\n");
  return readFamily(
    lines.flatMap((line) => {
      const { run_id, ...event } = JSON.parse(line) as RunEvent & { readonly run_id: string };
      return run_id.includes("/") ? [] : [event as RunEvent];
    }),
  );
}

function readFamily(events: readonly RunEvent[]): Tried {
  const endings: Record<string, number> = {};
  for (const event of events) {
    if (event.type === "child_end") endings[event.ending] = (endings[event.ending] ?? 0) + 1;
  }
  const end = events.find((event): event is RunEnd => event.type === "run_end");
  assert.ok(end);
  return { end, endings, told: events.flatMap(outputOf) };
}

function outputOf(event: RunEvent): string[] {
  if (event.type !== "tool_end" || event.item.type !== "function_call_output") return [];
  return [String(event.item.output)];
}

const toEnvelope = (told: string): JsonObject => {
  const envelope = tryParseJson(told);
  return isJsonObject(envelope) ? envelope : {};
};

const FITTING: readonly (readonly [children: number, Omit<Trial, "children" | "tokens">])[] = [
  [24, { executor: "in_process" }],
  [100, { executor: "in_process" }],
  [1000, { executor: "in_process" }],
  [100, { executor: "child_process" }],
  [8, { executor: "in_process", tool: "call_subagent" }],
];

describe("children whose needs fit the budget of their turn", () => {
  for (const [children, trial] of FITTING) {
    const { executor, tool = "subagent" } = trial;
    it(`all do their work: ${children} of \`${tool}\`, ${executor}`, async () => {
      const tokens = Math.floor(needOf(children) * 1.2) + HEADROOM;
      const { end, endings, told } = await tryFamily({ children, tokens, ...trial });
      const failed = told.filter((one) => !one.includes("is done"));
      assert.deepEqual(failed, [], "what a child that was lost says");
      assert.deepEqual(endings, { completed: children });
      assert.equal(end.spent["tokens"], needOf(children));
    });
  }
});

describe("children whose needs do not fit the budget of their turn", () => {
  for (const executor of ["in_process", "child_process"] as const) {
    it(`stop within it, and the report names who was not run: ${executor}`, async () => {
      const tokens = Math.floor(needOf(24) / 2);
      const { end, told } = await tryFamily({ children: 24, tokens, executor });
      assert.ok(Number(end.spent["tokens"]) <= tokens, String(end.spent["tokens"]));
      const envelopes = told.map(toEnvelope);
      assert.equal(envelopes.length, 24);
      const notRun = envelopes.filter(({ success }) => success !== true);
      assert.ok(notRun.length > 0 && notRun.length < 24, String(notRun.length));
      for (const { error, metadata } of notRun) {
        assert.match(String(error), /Not started: |is used up|of the budget is free|cut at its/);
        assert.match(String(isJsonObject(metadata) && metadata["subagent_label"]), /^child \d+$/);
      }
    });
  }
});
