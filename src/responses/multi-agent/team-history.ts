/**
 * Assigns the items of a conversation that several agents wrote. All that they know is in the items: an agent that
 * stopped for the client's answer continues from them in another request, or after a restart. Pure.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Item, MultiAgentCall, MultiAgentCallOutput } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { isForClient } from "../bridge/client-calls.ts";
import { isBelow, isChild, toAgentName } from "../fold/agent-name.ts";

/** The agent that an item names; undefined if it names none. */
export function agentOf(item: Item): string | undefined {
  const { agent } = item as { readonly agent?: { readonly agent_name?: string } | null };
  return agent?.agent_name;
}

function withoutAgent(item: Item): Item {
  if (!("agent" in item)) return item;
  const { agent: _, ...rest } = item;
  return rest as Item;
}

/**
 * The items that `me` wrote, was sent, and got as answers; items that name no agent are its own.
 */
export function toOwnItems(items: readonly Item[], me: string): readonly Item[] {
  if (!items.some((item) => agentOf(item) !== undefined)) return items;
  const owners = findOwners(items);
  return items.flatMap((item) => {
    const owner = agentOf(item) ?? owners.get(answeredBy(item) ?? "") ?? me;
    return owner === me ? [withoutAgent(item)] : [];
  });
}

/** A task of an agent: who gave it, and its words. */
interface GivenTask {
  /** The agent that does it. */
  readonly name: string;
  readonly message: string;
  readonly forkTurns: string;
  readonly isFirst: boolean;
  /** The item that gave it. */
  readonly call: Item;
}

/**
 * The tasks that were given and accepted, oldest first. `me` is the agent of items that name none.
 */
export function findTasks(items: readonly Item[], me: string): GivenTask[] {
  const taken: GivenTask[] = [];
  // Some models count their calls from the beginning in every answer: an output belongs to the last call of that id.
  const given = new Map<string, GivenTask[]>();
  for (const item of items) {
    if (item.type !== "multi_agent_call" && item.type !== "multi_agent_call_output") continue;
    const author = agentOf(item) ?? me;
    const key = `${author} ${item.call_id}`;
    if (item.type === "multi_agent_call") given.set(key, toTasks(item, author));
    else if (isTaken(item)) taken.push(...(given.get(key) ?? []));
  }
  return taken;
}

function isTaken({ output }: MultiAgentCallOutput): boolean {
  const said = tryParseJson(output.map((part) => textOfPart(part) ?? "").join(""));
  return isJsonObject(said) && typeof said["task_name"] === "string";
}

function toTasks(call: MultiAgentCall, author: string): GivenTask[] {
  const given = tryParseJson(call.arguments);
  return isJsonObject(given) ? toTask(call.action, given, author, call) : [];
}

function toTask(action: string, given: JsonObject, author: string, call: Item): GivenTask[] {
  const { task_name, target, message = "", fork_turns = "none" } = given;
  const isFirst = action === "spawn_agent";
  if (!isFirst && action !== "followup_task") return [];
  const name = toAgentName(String((isFirst ? task_name : target) ?? ""), author);
  return [{ name, message: String(message), forkTurns: String(fork_turns), isFirst, call }];
}

/**
 * The items from which an agent below `me` continues: its tasks, its own items, and those of the agents below it,
 * which keep their names.
 */
export function toAgentItems(items: readonly Item[], name: string, me: string): Item[] {
  const owners = findOwners(items);
  const tasks = new Map(findTasks(items, me).map((task) => [task.call, task]));
  return items.flatMap((item, at): Item[] => {
    const task = tasks.get(item);
    if (task?.name === name) return toTaskItems(task, items.slice(0, at), agentOf(item) ?? me);
    const owner = agentOf(item) ?? owners.get(answeredBy(item) ?? "");
    if (isCut(item) || owner === undefined) return [];
    if (owner === name) return [withoutAgent(item)];
    return isBelow(owner, name) ? [item] : [];
  });
}

function toTaskItems(task: GivenTask, before: readonly Item[], author: string): Item[] {
  const fork = task.isFirst ? forkItems(toOwnItems(before, author), task.forkTurns) : [];
  return [...fork, toTaskMessage(task.message)];
}

export function toTaskMessage(message: string): Item {
  return { type: "message", role: "user", content: message };
}

/**
 * The last turns of a conversation, each from a user's message on. Calls of the team are left out.
 */
export function forkItems(items: readonly Item[], turns: string): Item[] {
  if (turns === "none") return [];
  const said = items.filter(({ type }) => FORKED.has(type));
  if (turns === "all") return said;
  const starts = said.flatMap((item, at) =>
    item.type === "message" && item.role === "user" ? [at] : [],
  );
  return said.slice(starts.at(-Number(turns)) ?? 0);
}

const FORKED: ReadonlySet<string> = new Set(["message", "compaction"]);

/** Whether the agent `name` below `me` can do nothing until the client has answered. */
export function waitsForClient(items: readonly Item[], name: string, me: string): boolean {
  return isPaused(toOwnItems(toAgentItems(items, name, me), name));
}

/** True if an agent, by its own items, can do nothing until the client has answered. */
export function isPaused(own: readonly Item[]): boolean {
  return findOpen(own).size > 0 || isStoppedWait(own.findLast(({ type }) => type !== "reasoning"));
}

/**
 * The calls that the client has not answered, by the ids for the answers. Some models count their calls from the
 * beginning in every answer: a repeated id is open again.
 */
export function findOpen(items: readonly Item[]): Map<string, Item> {
  const open = new Map<string, Item>();
  for (const item of items) {
    const called = calledBy(item);
    const answered = answeredBy(item);
    if (called !== undefined) open.set(called, item);
    if (answered !== undefined) open.delete(answered);
  }
  return open;
}

/** True if the client's answers are the last items of an agent. `own` are its items. */
function isReady(own: readonly Item[]): boolean {
  const last = own.at(-1);
  return last !== undefined && answeredBy(last) !== undefined && !isPaused(own);
}

/**
 * The agents directly below `me` that can continue: they have their answers, or an agent below them has, for which
 * they wait.
 */
export function findReady(items: readonly Item[], me: string): string[] {
  const names = new Set(findTasks(items, me).map(({ name }) => name));
  const ownOf = (name: string): readonly Item[] => toOwnItems(toAgentItems(items, name, me), name);
  const ready = [...names].filter((name) => isReady(ownOf(name)));
  const hasReadyBelow = (name: string): boolean => {
    if (!ready.some((other) => isBelow(other, name))) return false;
    const own = ownOf(name);
    return isStoppedWait(own.at(-1)) && findOpen(own).size === 0;
  };
  return [...names].filter(
    (name) => isChild(name, me) && (ready.includes(name) || hasReadyBelow(name)),
  );
}

/** True if an item says that a wait ended because all remaining agents wait for the client. */
export function isStoppedWait(item: Item | undefined): boolean {
  if (item?.type !== "multi_agent_call_output" || item.action !== "wait_agent") return false;
  const said = tryParseJson(item.output.map((part) => textOfPart(part) ?? "").join(""));
  const names = isJsonObject(said) ? said["waiting_for_client"] : undefined;
  return Array.isArray(names) && names.length > 0;
}

/** The owner of the call that each answer of the client belongs to. */
function findOwners(items: readonly Item[]): Map<string, string> {
  return new Map(
    items.flatMap((item) => {
      const id = calledBy(item);
      const agent = agentOf(item);
      return id === undefined || agent === undefined ? [] : [[id, agent] as const];
    }),
  );
}

/** The id with which the client answers a call. */
export function calledBy(item: Item): string | undefined {
  if (!isForClient(item)) return undefined;
  const { call_id, id } = item as { readonly call_id?: string; readonly id?: string };
  return call_id ?? id;
}

/** The id of the call that an item answers. */
export function answeredBy(item: Item): string | undefined {
  if (item.type === "mcp_approval_response") return item.approval_request_id;
  if (!item.type.endsWith("_output") || item.type === "multi_agent_call_output") return undefined;
  const { call_id, id } = item as { readonly call_id?: string; readonly id?: string };
  return call_id ?? id;
}

/** True for output that was interrupted when an agent was stopped: it is not continued. */
function isCut(item: Item): boolean {
  return "status" in item && (item.status === "incomplete" || item.status === "in_progress");
}
