/**
 * Many children of one turn with one budget: if their needs fit into it, all of them do their work; if not,
 * the tree stays within it and reports which were not run.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, tryParseJson } from "../../src/base/json.ts";
import { dropReportWish } from "../../src/protocol/report-wish.ts";
import type { RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply, respond, type Script } from "../../src/testing/index.ts";
import { LINUX_LACK } from "../needs.ts";
import { createPlace } from "./command.ts";
import { type Held, watchProcess } from "./watched-process.ts";
import { CHAT, runAt } from "./wires.ts";

/**
 * How many children have processes of their own: `OFFSHOOT_TEST_CHILDREN=1000` for a long test of some
 * minutes.
 */
const IN_PROCESSES = Number(process.env["OFFSHOOT_TEST_CHILDREN"] ?? 40);
/** How many of them work at once. */
const PLACES = 8;

const READ = { name: "read", arguments: '{"path":"a.txt"}' };
const USAGE = { input: 1000, output: 200 };
const CALL_TOKENS = 1200;
/** The most that a call may cost, which is reserved before it is made. */
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

/** The most tasks of one call of `parallel_subagent`. */
const TASKS = 100;

function toCalls(children: number, tool: ToolName): { name: string; arguments: string }[] {
  const tasks = Array.from({ length: children }, (_, at) => `child ${at}`).map((name) => ({
    label: name,
    task_prompt: name,
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

/**
 * The root starts that many children in one turn, by this tool; each reads as often as it needs to. `look`
 * is called when a child has begun.
 */
function delegating(children: number, tool: ToolName, look: () => void): Script {
  const calls = toCalls(children, tool);
  return respond((request) => {
    const asked = firstAsked(request);
    const outputs = request.items.filter(({ type }) => type === "function_call_output").length;
    const how = { usage: USAGE };
    if (asked === "go") return outputs > 0 ? reply.text("done", how) : reply.calls(calls, how);
    const child = Number(asked.slice("child ".length));
    if (outputs === 0) look();
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
  /** The results about each child for the root's model. */
  readonly told: readonly string[];
  /** The most that the root's process held. */
  readonly held: Held;
}

async function tryFamily({ children, tokens, executor, tool = "subagent" }: Trial): Promise<Tried> {
  await using place = await createPlace({ "a.txt": "1\n" });
  const watched = watchProcess();
  let pid: number | undefined;
  const look = (): void => {
    if (pid !== undefined && executor === "child_process") watched.look(pid);
  };
  await using upstream = await CHAT.start({ engine: delegating(children, tool, look) });
  // The numbers above are those of the conversation alone.
  const flags = ["--bare", "--tools", `read,${tool}`, "--max-total-tokens", String(tokens)];
  const args = [...runAt(upstream, CHAT, "go"), ...flags, "--output", "jsonl", "--quiet"];
  const processes = { OFFSHOOT_AGENT_SUBAGENT_MAX_PROCESSES: String(PLACES) };
  const env = { OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: executor, ...processes };
  const command = place.start(args, { env });
  pid = command.child.pid;
  const ended = await command.ended;
  assert.equal(ended.code, 0, ended.stderr);
  const lines = ended.stdout.trimEnd().split("\n");
  const events = lines.flatMap((line) => {
    const { run_id, ...event } = JSON.parse(line) as RunEvent & { readonly run_id: string };
    return run_id.includes("/") ? [] : [event as RunEvent];
  });
  return { ...readFamily(events), held: watched.most };
}

function readFamily(events: readonly RunEvent[]): Omit<Tried, "held"> {
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

/** The reports of an envelope, or of each task of `parallel_subagent`. */
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

/** Three pipes for each child and its starter, and those that every process has. */
const FILES = 40 + 6 * PLACES;
/** A working process uses less than 200, however many children it has had. */
const MEGABYTES = 400;

/** However many children there are, a process holds no more than the working ones need. */
function checkHeld({ megabytes, files, children, zombies }: Held): void {
  if (LINUX_LACK) return;
  assert.ok(megabytes < MEGABYTES, `${megabytes} MB`);
  assert.ok(files < FILES, `${files} open files`);
  // One more is the keeper, which ends all of them if their parent is killed.
  assert.ok(children <= 2 * PLACES, `${children} processes`);
  assert.ok(zombies <= PLACES, `${zombies} zombie processes`);
}

const FITTING: readonly (readonly [children: number, Omit<Trial, "children" | "tokens">])[] = [
  [24, { executor: "in_process" }],
  [100, { executor: "in_process" }],
  [1000, { executor: "in_process" }],
  [IN_PROCESSES, { executor: "child_process" }],
  [8, { executor: "in_process", tool: "call_subagent" }],
  [100, { executor: "in_process", tool: "parallel_subagent" }],
  [24, { executor: "child_process", tool: "parallel_subagent" }],
];

describe("children whose needs fit the budget of their turn", () => {
  for (const [children, trial] of FITTING) {
    const { executor, tool = "subagent" } = trial;
    it(`all do their work: ${children} of \`${tool}\`, ${executor}`, async () => {
      const tokens = Math.floor(needOf(children) * 1.2) + HEADROOM;
      const { end, endings, told, held } = await tryFamily({ children, tokens, ...trial });
      const failed = told.filter((one) => !one.includes("is done"));
      assert.deepEqual(failed, [], "what a child that was lost says");
      assert.deepEqual(endings, { completed: children });
      assert.equal(end.spent["tokens"], needOf(children));
      checkHeld(held);
    });
  }
});

const TOO_MANY: readonly Omit<Trial, "tokens">[] = [
  { children: 24, executor: "in_process" },
  { children: IN_PROCESSES, executor: "child_process" },
  { children: 24, executor: "in_process", tool: "parallel_subagent" },
  { children: 1000, executor: "in_process" },
];

describe("children whose needs do not fit the budget of their turn", () => {
  for (const trial of TOO_MANY) {
    const { children, executor, tool = "subagent" } = trial;
    const title = `${children} of \`${tool}\`, ${executor}`;
    it(`stop within it, and the report names those that were not run: ${title}`, async () => {
      const tokens = Math.floor(needOf(children) / 2);
      const { end, told, held } = await tryFamily({ ...trial, tokens });
      checkHeld(held);
      assert.ok(Number(end.spent["tokens"]) <= tokens, String(end.spent["tokens"]));
      const reports = told.flatMap(toReports);
      assert.equal(new Set(reports.map(({ label }) => label)).size, children);
      const notRun = reports.filter(({ isDone }) => !isDone);
      assert.ok(notRun.length > 0 && notRun.length < children, String(notRun.length));
      for (const { label, error } of notRun) {
        assert.match(
          error,
          /Not started: |is used up|of the budget is left|the budget has|cut at its/,
        );
        assert.match(label, /^child \d+$/);
      }
    });
  }
});
