/** `tool_search`: finds tools that a request offers with `defer_loading`. */

import { z } from "zod";
import { itemFields, itemStatus } from "../item-fields.ts";
import { JsonObject, JsonValue, open, openEnum } from "../open.ts";
import type { HostedKind } from "./hosted-kind.ts";

/** Lets the model look for tools that were offered with `defer_loading`. */
export const ToolSearchTool = open({
  type: z.literal("tool_search"),
  execution: openEnum(["server", "client"]).optional(),
  description: z.string().nullable().optional(),
  parameters: JsonObject.nullable().optional(),
});
export type ToolSearchTool = z.infer<typeof ToolSearchTool>;

/** The fields of a search and of its result. */
export const toolSearchFields = {
  ...itemFields,
  /** Null if the server searches itself. */
  call_id: z.string().nullable().optional(),
  execution: openEnum(["server", "client"]).optional(),
  status: itemStatus,
};

export const ToolSearchCall = open({
  type: z.literal("tool_search_call"),
  ...toolSearchFields,
  arguments: JsonValue,
});
export type ToolSearchCall = z.infer<typeof ToolSearchCall>;

const always = { status: "completed", call_id: null, execution: "server" };

export const TOOL_SEARCH = {
  name: "tool_search",
  tools: [ToolSearchTool],
  spellings: /^tool_search_tool_\w+$/,
  runs: "client",
  choices: ["tool_search"],
  items: {
    tool_search_call: {
      idPrefix: "tsc",
      cut: "incomplete",
      always,
      answeredBy: "tool_search_output",
      optional: {},
      progress: undefined,
      writes: undefined,
    },
    tool_search_output: {
      idPrefix: "tso",
      cut: "incomplete",
      always,
      answeredBy: undefined,
      optional: {},
      progress: undefined,
      writes: undefined,
    },
  },
  // The result has tools of every kind, so its schema comes after all of them: `hosted-items.ts`.
  itemSchemas: [ToolSearchCall],
  events: [],
} as const satisfies HostedKind;
