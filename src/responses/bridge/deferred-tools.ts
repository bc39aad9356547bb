/**
 * Tools with `defer_loading`: the model gets them when a search has found them. The items of the conversation say
 * which were found, so a resumed run knows them again. A found tool stays, also if the conversation is cut or
 * compacted. A call of a tool that was not found works too.
 */

import type { Item } from "../../protocol/items.ts";
import type { FunctionTool, Tool, ToolChoice } from "../../protocol/tools.ts";
import type { DeferredTool, Offer } from "../kinds/tool-kind.ts";

/** The tools that the model gets with a conversation. `choice` names functions. */
export type Offering = (items: readonly Item[], choice: ToolChoice) => readonly Tool[];

export function findDeferred(passed: readonly Tool[], offers: readonly Offer[]): DeferredTool[] {
  const own = passed.flatMap((tool) => (isDeferred(tool) ? [{ spec: tool, tool }] : []));
  const others = offers.flatMap(({ spec, deferred }) =>
    deferred ? [{ spec, tool: deferred }] : [],
  );
  return [...own, ...others];
}

/** `offers` have their offered names. Nothing is deferred. */
export function offerAll(passed: readonly Tool[], offers: readonly Offer[]): Offering {
  const all = [...passed, ...offers.map(({ spec }) => spec)];
  return () => all;
}

/** Deferred tools come after the others, once they are found. */
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

/** Providers that do not search need not know the field. */
function toPlain({ defer_loading: _, ...tool }: FunctionTool): FunctionTool {
  return tool;
}

/**
 * The tools that a search has found, one by one; all tools of an MCP server that a client has found.
 */
function keysFound(item: Item): string[] {
  if (item.type !== "tool_search_output") return [];
  return item.tools.flatMap((tool) => {
    const [whole, ...each] = keysOf(tool);
    return each.length > 0 ? each : (whole ?? []);
  });
}

/** The keys of a tool: first its group, which stands for all tools in it if none is named. */
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

/** Tools that a choice names must be offered, found or not: a provider refuses it otherwise. */
function namesIn(choice: ToolChoice): ReadonlySet<unknown> {
  if (typeof choice === "string") return new Set();
  if (choice.type === "allowed_tools") return new Set(choice.tools.map((entry) => entry["name"]));
  return new Set("name" in choice ? [choice.name] : []);
}
