/**
 * The conversation, as the Responses API spells it: a flat list of items.
 *
 * Each schema and its type share one name, so there is one place to look and nothing to keep in step. An
 * item keeps the wire's snake_case everywhere in the process; there is no second spelling. Items of
 * hosted tools are in `hosted-kinds/`.
 */

import { z } from "zod";
import { ContentPart, ReasoningText, SummaryText } from "./content.ts";
import { HOSTED_ITEM_KINDS } from "./hosted-items.ts";
import { callFields, itemFields, itemStatus } from "./item-fields.ts";
import { choose, open, openEnum, openUnion, textOr, typesOf } from "./open.ts";
import { parseAs } from "./parse.ts";
import { Tool } from "./tools.ts";

const messageFields = {
  ...itemFields,
  role: z.enum(["user", "assistant", "system", "developer"]),
  content: textOr(z.array(ContentPart)),
  status: itemStatus,
  /** Says whether the model was still working when it wrote this. */
  phase: openEnum(["commentary", "final_answer"]).nullable().optional(),
};

export const Message = open({ type: z.literal("message"), ...messageFields });
export type Message = z.infer<typeof Message>;

/** A message without `type`, as a client may write it. `toItems` makes a `Message` of it. */
export const EasyMessage = open(messageFields);
export type EasyMessage = z.infer<typeof EasyMessage>;

export const FunctionCall = open({
  type: z.literal("function_call"),
  ...callFields,
  name: z.string(),
  /** JSON text exactly as the model wrote it; it may not parse. */
  arguments: z.string(),
  namespace: z.string().nullable().optional(),
  status: itemStatus,
});
export type FunctionCall = z.infer<typeof FunctionCall>;

export const FunctionCallOutput = open({
  type: z.literal("function_call_output"),
  ...callFields,
  output: textOr(z.array(ContentPart)),
  name: z.string().nullable().optional(),
  namespace: z.string().nullable().optional(),
  status: itemStatus,
});
export type FunctionCallOutput = z.infer<typeof FunctionCallOutput>;

export const CustomToolCall = open({
  type: z.literal("custom_tool_call"),
  ...callFields,
  name: z.string(),
  /** Free text exactly as the model wrote it. */
  input: z.string(),
  namespace: z.string().nullable().optional(),
  status: itemStatus,
});
export type CustomToolCall = z.infer<typeof CustomToolCall>;

export const CustomToolCallOutput = open({
  type: z.literal("custom_tool_call_output"),
  ...callFields,
  output: textOr(z.array(ContentPart)),
  status: itemStatus,
});
export type CustomToolCallOutput = z.infer<typeof CustomToolCallOutput>;

export const Reasoning = open({
  type: z.literal("reasoning"),
  ...itemFields,
  summary: z.array(SummaryText),
  content: z.array(ReasoningText).nullable().optional(),
  /** Reasoning that the vendor needs to continue; it must be sent back unchanged. */
  encrypted_content: z.string().nullable().optional(),
  status: itemStatus,
});
export type Reasoning = z.infer<typeof Reasoning>;

/** Stands for an item that the server stores. */
export const ItemReference = open({ type: z.literal("item_reference"), id: z.string() });
export type ItemReference = z.infer<typeof ItemReference>;

const EasyReference = open({ type: z.null().optional(), id: z.string() });
type EasyReference = z.infer<typeof EasyReference>;

/** The earlier conversation, compressed into a form that only its maker can read. */
export const Compaction = open({
  type: z.literal("compaction"),
  ...itemFields,
  encrypted_content: z.string(),
});
export type Compaction = z.infer<typeof Compaction>;

/** As the last input item: asks for one `compaction` instead of an answer. */
export const CompactionTrigger = open({ type: z.literal("compaction_trigger"), ...itemFields });
export type CompactionTrigger = z.infer<typeof CompactionTrigger>;

/** Tools that the model may call from this item on. */
export const AdditionalTools = open({
  type: z.literal("additional_tools"),
  ...itemFields,
  role: openEnum(["developer", "user", "assistant", "system", "tool", "unknown"]),
  tools: z.array(Tool),
});
export type AdditionalTools = z.infer<typeof AdditionalTools>;

const multiAgentFields = {
  ...itemFields,
  call_id: z.string(),
  action: openEnum([
    "spawn_agent",
    "interrupt_agent",
    "list_agents",
    "send_message",
    "followup_task",
    "wait_agent",
  ]),
};

export const MultiAgentCall = open({
  type: z.literal("multi_agent_call"),
  ...multiAgentFields,
  /** JSON text. */
  arguments: z.string(),
});
export type MultiAgentCall = z.infer<typeof MultiAgentCall>;

export const MultiAgentCallOutput = open({
  type: z.literal("multi_agent_call_output"),
  ...multiAgentFields,
  output: z.array(ContentPart),
});
export type MultiAgentCallOutput = z.infer<typeof MultiAgentCallOutput>;

/** A message from one agent of a tree to another. */
export const AgentMessage = open({
  type: z.literal("agent_message"),
  ...itemFields,
  author: z.string(),
  recipient: z.string(),
  content: z.array(ContentPart),
});
export type AgentMessage = z.infer<typeof AgentMessage>;

/** An item of a kind we do not know. At run time an `Item` may be one; see `open.ts`. */
export const OpenItem = open({ type: z.string() });
export type OpenItem = z.infer<typeof OpenItem>;

const ITEM_KINDS = [
  Message,
  FunctionCall,
  FunctionCallOutput,
  CustomToolCall,
  CustomToolCallOutput,
  Reasoning,
  ItemReference,
  Compaction,
  CompactionTrigger,
  AdditionalTools,
  MultiAgentCall,
  MultiAgentCallOutput,
  AgentMessage,
  ...HOSTED_ITEM_KINDS,
] as const;

/** Every `type` that an `Item` names; an item of another type is kept and passed on. */
export const ITEM_TYPES: readonly string[] = typesOf(ITEM_KINDS);

export const Item = openUnion(ITEM_KINDS);
export type Item = z.infer<typeof Item>;

/** An item as a client may write it: messages and references may leave `type` out. */
export const InputItem = choose<Item | EasyMessage | EasyReference>(
  (value) => {
    if (typeof value !== "object" || value === null) return Item;
    if ("type" in value && value.type !== null && value.type !== undefined) return Item;
    return "role" in value ? EasyMessage : "id" in value ? EasyReference : Item;
  },
  { among: [Item, EasyMessage, EasyReference] },
);
export type InputItem = z.infer<typeof InputItem>;

/** Rejects a known kind with a wrong field; keeps an unknown kind as it is. */
export function parseItem(value: unknown): Item {
  return parseAs(Item, value, "item");
}

export function parseItems(value: unknown): Item[] {
  return parseAs(z.array(Item), value, "list of items");
}

/**
 * A request's `input` as items: text becomes one user message, and items without `type` get theirs. Rejects
 * like `parseItem`, with a path that starts at `input`.
 */
export function toItems(input: string | readonly unknown[]): Item[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  const request = parseAs(open({ input: z.array(InputItem) }), { input }, "input");
  return fromInput(request.input);
}

/** Like `toItems`, for input that was parsed already. */
export function fromInput(input: string | readonly InputItem[]): Item[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return input.map(toItem);
}

function toItem(item: InputItem): Item {
  if ("type" in item && item.type) return item;
  return "role" in item ? { ...item, type: "message" } : { ...item, type: "item_reference" };
}
