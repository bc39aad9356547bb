/**
 * `multi_agent` as a kind of tool: actions between agents are calls of this server, with items of their own, and
 * messages between agents are user messages for the model that reads them.
 */

import { isJsonObject, type Json } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { STORED_ITEMS } from "../../protocol/stored-items.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { toResultText } from "../kinds/result-text.ts";
import type { Offer, ServerRun, ToolKind } from "../kinds/tool-kind.ts";
import { ACTIONS, type Action, toActionSpec } from "./actions.ts";

/** Represents the team among a request's tools; clients ask for one with a field. */
export const TEAM_TOOL = { type: "multi_agent" } as unknown as Tool;

/** Reads conversations that a team has written; offers nothing. */
export const MULTI_AGENT_KIND: ToolKind = {
  toolTypes: ["multi_agent"],
  itemTypes: ["multi_agent_call", "multi_agent_call_output", "agent_message"],
  open: async () => ({ offers: [] }),
  keyOf: (item) => (item.type === "multi_agent_call" ? toKey(item.action) : undefined),
  toFunctions: toTeamFunctions,
};

/** The kind of a run that has a team. */
export function createTeamKind(toTool: (action: Action) => GateTool): ToolKind {
  return {
    ...MULTI_AGENT_KIND,
    open: async () => ({ offers: ACTIONS.map((action) => toOffer(action, toTool(action))) }),
  };
}

function toOffer(action: Action, tool: GateTool): Offer {
  return {
    key: toKey(action),
    spec: toActionSpec(action),
    isMeantBy: (choice) => choice["type"] === "multi_agent",
    shows: "nothing",
    toItem: ({ call_id, arguments: text }, id): Item =>
      ({
        type: "multi_agent_call",
        id,
        call_id,
        action,
        arguments: text,
        // Says that the call is still to be made; removed when it was made.
        status: "in_progress",
      }) as Item,
    run: toRun(tool),
  };
}

function toRun(tool: GateTool): ServerRun {
  return {
    tool,
    toArguments: (item) => (item.type === "multi_agent_call" ? item.arguments || "{}" : "{}"),
    show(item, result) {
      if (item.type !== "multi_agent_call") return [item];
      const { status: _, ...call } = item as typeof item & { readonly status?: string };
      const { call_id, action } = call;
      const text = toResultText(result.output);
      const output = [{ type: "output_text" as const, text, annotations: [], logprobs: [] }];
      const answer: Item = { type: "multi_agent_call_output", call_id, action, output };
      return [call, answer, ...messagesIn(result)];
    },
  };
}

/** The messages that came to the caller with a call's result. */
function messagesIn({ details }: ToolResult): Item[] {
  const messages = isJsonObject(details) ? details["messages"] : undefined;
  return Array.isArray(messages) ? (messages as unknown as Item[]) : [];
}

/** The details of a call's result for its readers; see `messagesIn`. */
export function toDetails(messages: readonly Item[]): Json {
  return { messages: STORED_ITEMS.write(messages) };
}

function toKey(action: string): string {
  return `multi_agent__${action}`;
}

function toTeamFunctions(item: Item, nameOf: (key: string) => string): readonly Item[] {
  switch (item.type) {
    case "multi_agent_call": {
      const { call_id, action, arguments: text } = item;
      return [{ type: "function_call", call_id, name: nameOf(toKey(action)), arguments: text }];
    }
    case "multi_agent_call_output":
      return [{ type: "function_call_output", call_id: item.call_id, output: textOf(item.output) }];
    case "agent_message": {
      const content = `Message from the agent ${item.author}:\n\n${textOf(item.content)}`;
      return [{ type: "message", role: "user", content }];
    }
    default:
      return [];
  }
}

function textOf(parts: readonly object[]): string {
  return parts.flatMap((part) => textOfPart(part) ?? []).join("\n");
}
