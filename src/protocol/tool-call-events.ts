/**
 * Stream events about a tool call in progress, and the pieces of what the model writes into it. Kinds of
 * one shape share a schema; `type` says which tool it was. The names come from the facts of the hosted kinds.
 */

import { z } from "zod";
import { event, place } from "./event-fields.ts";
import type { ItemFacts } from "./hosted-kinds/hosted-kind.ts";
import { type AnyHostedKind, HOSTED_KINDS } from "./hosted-kinds/hosted-kinds.ts";

/** Progress of a tool that the server runs; the call itself is in the item's events. */
export const ToolCallProgress = event(
  [...toProgressTypes(), "response.compaction.compacting"],
  place,
);
export type ToolCallProgress = z.infer<typeof ToolCallProgress>;

/** The next piece of a call's arguments, free text, code or patch. */
export const ToolCallDelta = event(
  [
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    ...toDeltaTypes(),
  ],
  { ...place, delta: z.string(), obfuscation: z.string().optional() },
);
export type ToolCallDelta = z.infer<typeof ToolCallDelta>;

export const FunctionCallArgumentsDone = event(["response.function_call_arguments.done"], {
  ...place,
  /** Missing in answers of older servers. */
  name: z.string().optional(),
  arguments: z.string(),
});
export type FunctionCallArgumentsDone = z.infer<typeof FunctionCallArgumentsDone>;

export const CustomToolCallInputDone = event(["response.custom_tool_call_input.done"], {
  ...place,
  input: z.string(),
});
export type CustomToolCallInputDone = z.infer<typeof CustomToolCallInputDone>;

/** The first of the three ids that is present names the call. */
const legacyPlace = {
  item_id: z.string().optional(),
  tool_call_id: z.string().optional(),
  call_id: z.string().optional(),
  output_index: z.number().optional(),
};

/** Servers of the legacy vocabulary send this instead of `function_call_arguments`. */
export const LegacyArgumentsDelta = event(["response.tool_call_arguments.delta"], {
  ...legacyPlace,
  delta: z.string(),
});
export type LegacyArgumentsDelta = z.infer<typeof LegacyArgumentsDelta>;

export const LegacyArgumentsDone = event(["response.tool_call_arguments.done"], {
  ...legacyPlace,
  arguments: z.string(),
});
export type LegacyArgumentsDone = z.infer<typeof LegacyArgumentsDone>;

type HostedEvent = AnyHostedKind["events"][number];

export const TOOL_CALL_EVENT_KINDS = [
  ToolCallProgress,
  ToolCallDelta,
  FunctionCallArgumentsDone,
  CustomToolCallInputDone,
  LegacyArgumentsDelta,
  LegacyArgumentsDone,
  ...HOSTED_KINDS.flatMap(({ events }): readonly HostedEvent[] => events),
] as const;

/** The facts of the items of all hosted kinds. */
type HostedFacts = FactsOf<AnyHostedKind>;
type FactsOf<Kind> = Kind extends { readonly items: infer Items } ? Items[keyof Items] : never;

/** The values of an object type, for each member of a union. */
type ValueOf<Value> = Value extends object ? Value[keyof Value] : never;
type ProgressType = Extract<ValueOf<HostedFacts["progress"]>, string>;
type DeltaType = Extract<HostedFacts["writes"], { readonly delta: string }>["delta"];

function toProgressTypes(): ProgressType[] {
  const types = hostedFacts().flatMap(({ progress }) => Object.values(progress ?? {}));
  return types.filter((type): type is ProgressType => type !== undefined);
}

function toDeltaTypes(): DeltaType[] {
  return hostedFacts().flatMap(({ writes }) => (writes ? [writes.delta as DeltaType] : []));
}

function hostedFacts(): ItemFacts[] {
  return HOSTED_KINDS.flatMap(({ items }) => Object.values<ItemFacts>(items));
}
