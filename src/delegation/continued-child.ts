/**
 * A finished child that is asked again: a new child that begins with the whole conversation of the finished one, read
 * from the record. What its call does not say stays as it was: agent, model, tools, limits.
 */

import { type AgentTask, parseTask } from "../agent/task.ts";
import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { OtherRuns } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import type { ChildStart, LoggedEvent, RunEvent } from "../protocol/run-events.ts";
import type { WatchingNode } from "./background-door.ts";
import type { ChildWish } from "./child.ts";
import { readMessages } from "./conversation-messages.ts";

/** Rejects with `Failure("invalid_request")` for a name that no finished child of the run has. */
export async function readContinued(
  { background }: WatchingNode,
  wish: ChildWish,
  name: string,
): Promise<ChildWish> {
  if (!background) throw refuse("A subagent cannot be asked again here");
  const children = await background.open();
  const { runs } = children;
  const start = findFinished(await children.readLog(), name);
  const input = await runs.input(start.child_id);
  if (input === undefined) throw refuse(`The record has no conversation of \`${name}\``);
  const task = parseTask(input);
  const before = toWhole(readMessages(task, await readEvents(runs, start.child_id), ""));
  const asked: Item = { type: "message", role: "user", content: wish.prompt };
  return {
    ...wish,
    ...(wish.agent === undefined ? toOwnWords(wish, task, start) : {}),
    items: [...before, asked],
    continues: start.child_id,
  };
}

/** The fields of the finished child, for those that the call leaves out. */
function toOwnWords(
  wish: ChildWish,
  task: AgentTask,
  { requested }: ChildStart,
): Partial<ChildWish> {
  const { model, options, instructions, agent, format } = task;
  const { provider, url, api_key_name, deployments, fell_back } = task;
  const { max_turns, timeout_ms, limits } = requested;
  if (agent) checkWithin(wish, task, toNumber(max_turns));
  return {
    model,
    // The server and the key of the finished child, whatever its parent's are.
    sameAddress: { provider, url, api_key_name, deployments, fell_back },
    instructions,
    ...(options ? { options } : {}),
    agent: agent ?? undefined,
    tools: wish.tools ?? task.tools,
    canAsk: wish.tools === undefined ? task.can_ask : wish.canAsk,
    maxTurns: wish.maxTurns ?? toNumber(max_turns),
    timeoutMs: toNumber(timeout_ms),
    ...(limits ? { limits: limits as JsonObject as ChildWish["limits"] } : {}),
    ...(format.type === "json_schema" ? { schema: format.schema } : {}),
    isJson: format.type === "json_object",
  };
}

/** The limits of an agent's file also apply when it is asked again. */
function checkWithin({ tools, maxTurns }: ChildWish, task: AgentTask, turns = Infinity): void {
  const missing = tools?.find((tool) => !task.tools.includes(tool));
  if (missing !== undefined) throw refuse(`The agent \`${task.agent}\` has no tool \`${missing}\``);
  if (maxTurns === undefined || maxTurns <= turns) return;
  const most = `at most ${turns} turns, and max_turns asks for ${maxTurns}`;
  throw refuse(`The agent \`${task.agent}\` has ${most}`);
}

function toNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** True if the name is its id, its place below the run, or its label; if several match, the last one is used. */
export function isNamed(
  child: { readonly id: string; readonly label: string },
  name: string,
): boolean {
  return child.id === name || child.label === name || child.id.endsWith(`/${name}`);
}

function findFinished(log: readonly LoggedEvent[], name: string): ChildStart {
  const events = log.map(({ event }) => event);
  const starts = events.filter((event): event is ChildStart => event.type === "child_start");
  const start = starts.findLast(({ child_id: id, label }) => isNamed({ id, label }, name));
  if (!start) {
    const known = [...new Set(starts.map(({ label }) => label))];
    const all = known.length > 0 ? known.join(", ") : "none";
    throw refuse(`No subagent of yours is called \`${name}\`. Yours: ${all}`);
  }
  const at = events.lastIndexOf(start);
  if (events.slice(at).some((event) => isEndOf(event, start.child_id))) return start;
  throw refuse(`\`${name}\` has not ended: send it a message with \`subagents\``);
}

function isEndOf(event: RunEvent, id: string): boolean {
  return event.type === "child_end" && event.child_id === id;
}

async function readEvents(runs: Pick<OtherRuns, "follow">, id: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const batch of runs.follow(id, -1)) for (const { event } of batch) events.push(event);
  return events;
}

/** Servers refuse a call without its result: a call that the child's end interrupted is left out. */
function toWhole(items: readonly Item[]): Item[] {
  const answered = new Set(
    items.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : [])),
  );
  return items.filter((item) => item.type !== "function_call" || answered.has(item.call_id));
}

function refuse(message: string): Failure {
  return new Failure("invalid_request", message);
}
