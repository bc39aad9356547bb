/**
 * Many children of one turn with one budget: where their needs fit into it, all of them do their work;
 * where they do not, the tree keeps to it and says who was not run.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, tryParseJson } from "../../src/base/json.ts";
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

type ToolName = "subagent" | "call_subagent" | "parallel_subagent";

/** Most tasks that one call of `parallel_subagent` has at once. */
const TASKS = 100;

function toCalls(children: number, tool: ToolName): { name: string; arguments: string }[] {
  const tasks = Array.from({ length: children }, (_, at) => `child ${at}`).map((name) => ({
    ...{ label: name, task_prompt: name },
  }));
  const inputs = {
    subagent: () => tasks,
    call_subagent: () =>
      tasks.map(({ task_prompt }) => ({ prompt: task_prompt, tool_subset: ["read"] })),
    parallel_subagent: () =>
      Array.from({ length: Math.ceil(children / TASKS) }, (_, at) => ({
        tasks: tasks.slice(at * TASKS, (at + 1) * TASKS),
      })),
  }[tool]();
  return inputs.map((input) => ({ name: tool, arguments: JSON.stringify(input) }));
}

/** The root starts so many children in one turn, by this tool; each reads as often as it needs to. */
function delegating(children: number, tool: ToolName): Script {
  const calls = toCalls(children, tool);
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
  readonly tool?: ToolName;
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

interface Report {
  readonly label: string;
  readonly isDone: boolean;
  readonly error: string;
}

/** Of an envelope, or of each task of `parallel_subagent`. */
function toReports(told: string): Report[] {
  const parsed = tryParseJson(told);
  const answer = isJsonObject(parsed) ? parsed : {};
  const { results, metadata } = answer;
  const rows = Array.isArray(results) ? results.filter(isJsonObject) : [answer];
  return rows.map((row) => ({
    label: String(row["label"] ?? (isJsonObject(metadata) && metadata["subagent_label"])),
    isDone: row["success"] === true,
    error: String(row["error"]),
  }));
}

const FITTING: readonly (readonly [children: number, Omit<Trial, "children" | "tokens">])[] = [
  [24, { executor: "in_process" }],
  [100, { executor: "in_process" }],
  [1000, { executor: "in_process" }],
  [100, { executor: "child_process" }],
  [8, { executor: "in_process", tool: "call_subagent" }],
  [100, { executor: "in_process", tool: "parallel_subagent" }],
  [24, { executor: "child_process", tool: "parallel_subagent" }],
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

const TOO_MANY: readonly Omit<Trial, "tokens">[] = [
  { children: 24, executor: "in_process" },
  { children: 24, executor: "child_process" },
  { children: 24, executor: "in_process", tool: "parallel_subagent" },
  { children: 1000, executor: "in_process" },
];

describe("children whose needs do not fit the budget of their turn", () => {
  for (const trial of TOO_MANY) {
    const { children, executor, tool = "subagent" } = trial;
    const title = `${children} of \`${tool}\`, ${executor}`;
    it(`stop within it, and the report names who was not run: ${title}`, async () => {
      const tokens = Math.floor(needOf(children) / 2);
      const { end, told } = await tryFamily({ ...trial, tokens });
      assert.ok(Number(end.spent["tokens"]) <= tokens, String(end.spent["tokens"]));
      const reports = told.flatMap(toReports);
      assert.equal(new Set(reports.map(({ label }) => label)).size, children);
      const notRun = reports.filter(({ isDone }) => !isDone);
      assert.ok(notRun.length > 0 && notRun.length < children, String(notRun.length));
      for (const { label, error } of notRun) {
        assert.match(error, /Not started: |is used up|of the budget is free|cut at its/);
        assert.match(label, /^child \d+$/);
      }
    });
  }
});
