/**
 * Whose items are whose in a conversation that several agents wrote. All they know is in the items: an
 * agent that stopped for the client's answer goes on from them in another request, or after a restart.
 * Pure.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Item, MultiAgentCall, MultiAgentCallOutput } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { isForClient } from "../bridge/client-calls.ts";
import { isBelow, isChild, toAgentName } from "../fold/agent-name.ts";

/** The agent that an item says it is of; undefined for one that says nothing. */
export function agentOf(item: Item): string | undefined {
  const { agent } = item as { readonly agent?: { readonly agent_name?: string } | null };
  return agent?.agent_name;
}

function withoutAgent(item: Item): Item {
  if (!("agent" in item)) return item;
  const { agent: _, ...rest } = item;
  return rest as Item;
}

/** What `me` has said, was told and was answered; items that name no agent are its own. */
export function toOwnItems(items: readonly Item[], me: string): readonly Item[] {
  if (!items.some((item) => agentOf(item) !== undefined)) return items;
  const owners = findOwners(items);
  return items.flatMap((item) => {
    const owner = agentOf(item) ?? owners.get(answeredBy(item) ?? "") ?? me;
    return owner === me ? [withoutAgent(item)] : [];
  });
}

/** A task that an agent was given: by whom, in which words. */
interface GivenTask {
  /** Who is to do it. */
  readonly name: string;
  readonly message: string;
  readonly forkTurns: string;
  readonly isFirst: boolean;
  /** The item that gave it. */
  readonly call: Item;
}

/** The tasks that were given and taken, oldest first. `me` is who speaks in items that name nobody. */
export function findTasks(items: readonly Item[], me: string): GivenTask[] {
  const taken: GivenTask[] = [];
  // There are models that count their calls anew in every answer: an output is of the last such call.
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
 * What an agent below `me` goes on with: its tasks, its own items, and those of the agents below it,
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

/** The last turns of a conversation, each from a user's message on. Calls of the team stay behind. */
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

/** Whether an agent can do nothing until the client has answered. Of its own items. */
export function isPaused(own: readonly Item[]): boolean {
  return findOpen(own).size > 0 || isStoppedWait(own.findLast(({ type }) => type !== "reasoning"));
}

/**
 * The calls that the client has not answered, by the ids under which it does. There are models that
 * count their calls anew in every answer: one that is made again is open again.
 */
export function findOpen(items: readonly Item[]): Map<string, Item> {
  const open = new Map<string, Item>();
  for (const item of items) {
    const [called, answered] = [calledBy(item), answeredBy(item)];
    if (called !== undefined) open.set(called, item);
    if (answered !== undefined) open.delete(answered);
  }
  return open;
}

/** Whether the client's answers are the last that an agent was told. Of its own items. */
function isReady(own: readonly Item[]): boolean {
  const last = own.at(-1);
  return last !== undefined && answeredBy(last) !== undefined && !isPaused(own);
}

/**
 * The agents right below `me` that can go on: they have their answers, or somebody below them has, for
 * whom they wait.
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

/** Whether an item says that a wait ended because all that is left waits for the client. */
export function isStoppedWait(item: Item | undefined): boolean {
  if (item?.type !== "multi_agent_call_output" || item.action !== "wait_agent") return false;
  const said = tryParseJson(item.output.map((part) => textOfPart(part) ?? "").join(""));
  const names = isJsonObject(said) ? said["waiting_for_client"] : undefined;
  return Array.isArray(names) && names.length > 0;
}

/** Whose call each answer of the client belongs to. */
function findOwners(items: readonly Item[]): Map<string, string> {
  return new Map(
    items.flatMap((item) => {
      const [id, agent] = [calledBy(item), agentOf(item)];
      return id === undefined || agent === undefined ? [] : [[id, agent] as const];
    }),
  );
}

/** The id under which the client answers a call. */
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

/** What was being said when an agent was stopped is not gone on with. */
function isCut(item: Item): boolean {
  return "status" in item && (item.status === "incomplete" || item.status === "in_progress");
}
