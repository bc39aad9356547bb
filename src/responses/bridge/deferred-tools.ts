/**
 * Tools with `defer_loading`: the model is told of them once a search has found them, which the items of
 * the conversation say; so a run that goes on after a restart knows them again. What was found stays,
 * also where the conversation is cut or made short. A call of one that was not found works all the same.
 */

import type { Item } from "../../protocol/items.ts";
import type { FunctionTool, Tool, ToolChoice } from "../../protocol/tools.ts";
import type { DeferredTool, Offer } from "../kinds/tool-kind.ts";

/** What the model is offered with a conversation. `choice` speaks of functions. */
export type Offering = (items: readonly Item[], choice: ToolChoice) => readonly Tool[];

export function findDeferred(passed: readonly Tool[], offers: readonly Offer[]): DeferredTool[] {
  const own = passed.flatMap((tool) => (isDeferred(tool) ? [{ spec: tool, tool }] : []));
  const others = offers.flatMap(({ spec, deferred }) =>
    deferred ? [{ spec, tool: deferred }] : [],
  );
  return [...own, ...others];
}

/** `offers` have the names they are offered under. Nothing is held back. */
export function offerAll(passed: readonly Tool[], offers: readonly Offer[]): Offering {
  const all = [...passed, ...offers.map(({ spec }) => spec)];
  return () => all;
}

/** What is deferred comes behind the others, once it is found. */
export function offerFound(passed: readonly Tool[], offers: readonly Offer[]): Offering {
  const later = findDeferred(passed, offers);
  const always = [
    ...passed.filter((tool) => !isDeferred(tool)),
    ...offers.filter(({ deferred }) => !deferred).map(({ spec }) => spec),
  ];
  const found = new Set<string>();
  return (items, choice) => {
    for (const key of items.flatMap(keysFound)) found.add(key);
    const chosen = namesIn(choice);
    const told = later.filter(
      ({ spec, tool }) => chosen.has(spec.name) || keysOf(tool).some((key) => found.has(key)),
    );
    return [...always, ...told.map(({ spec }) => toPlain(spec))];
  };
}

function isDeferred(tool: Tool): tool is FunctionTool {
  return tool.type === "function" && tool.defer_loading === true;
}

/** Providers that find nothing need not know the word. */
function toPlain({ defer_loading: _, ...tool }: FunctionTool): FunctionTool {
  return tool;
}

/** What a search has found, one by one; of a server that a client has found whole, all. */
function keysFound(item: Item): string[] {
  if (item.type !== "tool_search_output") return [];
  return item.tools.flatMap((tool) => {
    const [whole, ...each] = keysOf(tool);
    return each.length > 0 ? each : (whole ?? []);
  });
}

/** What a tool is known by: first its group, which stands for all of it where none is named. */
function keysOf(tool: Tool): string[] {
  if (tool.type === "namespace") {
    return [`${tool.name}__`, ...tool.tools.map(({ name }) => `${tool.name}__${name}`)];
  }
  if (tool.type === "mcp") {
    const { server_label, allowed_tools } = tool;
    const names = Array.isArray(allowed_tools) ? allowed_tools : [];
    return ["", ...names].map((name) => `${server_label}__${name}`);
  }
  return tool.type === "function" || tool.type === "custom" ? [tool.name] : [];
}

/** What a choice names must be there, found or not: no provider takes it else. */
function namesIn(choice: ToolChoice): ReadonlySet<unknown> {
  if (typeof choice === "string") return new Set();
  if (choice.type === "allowed_tools") return new Set(choice.tools.map((entry) => entry["name"]));
  return new Set("name" in choice ? [choice.name] : []);
}
