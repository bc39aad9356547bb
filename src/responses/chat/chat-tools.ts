/**
 * Tools and the choice among them, in the form of a chat completions request: one level deeper than in the Responses
 * API, and not strict by default.
 */

import { z } from "zod";
import type { JsonObject } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import { WebSearchTool } from "../../protocol/hosted-kinds/web-search.ts";
import {
  choose,
  JsonObject as JsonObjectSchema,
  open,
  openEnum,
  openUnion,
} from "../../protocol/open.ts";
import { CustomTool, FunctionTool, Tool, ToolChoice } from "../../protocol/tools.ts";

const { name, description, parameters, strict } = FunctionTool.shape;

/** A function as the older `functions` has it. */
export const ChatFunction = open({ name, description, parameters });
export type ChatFunction = z.infer<typeof ChatFunction>;

const ChatFunctionTool = open({
  type: z.literal("function"),
  function: open({ name, description, parameters, strict }),
});

const ChatCustomTool = open({
  type: z.literal("custom"),
  custom: open({
    name: CustomTool.shape.name,
    description: CustomTool.shape.description,
    format: open({
      type: openEnum(["text", "grammar"]),
      grammar: open({ syntax: openEnum(["lark", "regex"]), definition: z.string() }).optional(),
    })
      .nullable()
      .optional(),
  }),
});

type NestedTool = z.infer<typeof ChatFunctionTool> | z.infer<typeof ChatCustomTool>;
export type ChatTool = NestedTool | Tool;

/**
 * The nested forms of chat; flat ones, which some clients send here too; and kinds of other servers.
 */
export const ChatTool = choose<ChatTool>(
  (value) => {
    if (!isJsonObject(value)) return Tool;
    if (value["type"] === "function" && !("name" in value)) return ChatFunctionTool;
    return value["type"] === "custom" && !("name" in value) ? ChatCustomTool : Tool;
  },
  { among: [ChatFunctionTool, ChatCustomTool, Tool] },
);

export function toTool(tool: ChatTool): Tool {
  if (tool.type === "custom" && "custom" in tool) return toCustomTool(tool);
  if (tool.type !== "function") return tool as Tool;
  const described = "function" in tool ? tool.function : tool;
  return toFunctionTool(described);
}

/** The Responses API is strict by default, and chat is not: so it must be set. */
export function toFunctionTool(described: ChatFunction & { strict?: unknown }): FunctionTool {
  const strict = described.strict === true;
  return { ...described, type: "function", strict };
}

function toCustomTool({ custom }: z.infer<typeof ChatCustomTool>): CustomTool {
  const { format, ...described } = custom;
  if (!format) return { ...described, type: "custom" };
  const { type, grammar } = format;
  return { ...described, type: "custom", format: { type, ...grammar } };
}

export const WebSearchOptions = open({
  search_context_size: WebSearchTool.shape.search_context_size,
  user_location: open({
    type: openEnum(["approximate"]).optional(),
    approximate: JsonObjectSchema.nullable().optional(),
  })
    .nullable()
    .optional(),
});
export type WebSearchOptions = z.infer<typeof WebSearchOptions>;

export function toWebSearchTool(options: WebSearchOptions): WebSearchTool {
  const { search_context_size, user_location } = options;
  const place = user_location?.approximate;
  return {
    type: "web_search",
    ...(search_context_size ? { search_context_size } : {}),
    ...(place ? { user_location: { type: "approximate", ...place } } : {}),
  };
}

const Named = open({ name: z.string() });

const NestedChoice = openUnion([
  open({ type: z.literal("function"), function: Named }),
  open({ type: z.literal("custom"), custom: Named }),
  open({
    type: z.literal("allowed_tools"),
    allowed_tools: open({
      mode: z.enum(["auto", "required"]),
      tools: z.array(JsonObjectSchema),
    }),
  }),
]);
type NestedChoice = z.infer<typeof NestedChoice>;

export type ChatToolChoice = NestedChoice | ToolChoice;
export const ChatToolChoice = choose<ChatToolChoice>(
  (value) => (isNested(value) ? NestedChoice : ToolChoice),
  { among: [NestedChoice, ToolChoice] },
);

export function toToolChoice(choice: ChatToolChoice): ToolChoice {
  if (typeof choice === "string" || !isNested(choice)) return choice as ToolChoice;
  switch (choice.type) {
    case "function":
      return { type: "function", name: choice.function.name };
    case "custom":
      return { type: "custom", name: choice.custom.name };
    case "allowed_tools": {
      const { mode, tools } = choice.allowed_tools;
      return { type: "allowed_tools", mode, tools: tools.map(flatten) };
    }
  }
}

const FunctionChoiceMode = z.enum(["none", "auto"]);
export type FunctionChoice = string | z.infer<typeof Named>;
/** The older `function_call` of a request. */
export const FunctionChoice = choose<FunctionChoice>(
  (value) => (typeof value === "string" ? FunctionChoiceMode : Named),
  { among: [FunctionChoiceMode, Named] },
);

export function toFunctionChoice(choice: FunctionChoice): ToolChoice {
  if (typeof choice !== "string") return { type: "function", name: choice.name };
  return choice === "none" ? "none" : "auto";
}

/** Flat forms have their name beside their type; a form without one is taken as nested. */
function isNested(value: unknown): value is NestedChoice {
  if (!isJsonObject(value)) return false;
  const { type } = value;
  if (type === "allowed_tools") return !("tools" in value);
  return (type === "function" || type === "custom") && !("name" in value);
}

/** Turns `{"type": "function", "function": {"name"}}` into `{"type": "function", "name"}`. */
function flatten(tool: JsonObject): JsonObject {
  const { type } = tool;
  const named = typeof type === "string" ? tool[type] : undefined;
  if (!isJsonObject(named)) return tool;
  return { type, name: named["name"] };
}
