/**
 * Items that hosted tools, and tools that only certain clients run, leave in a conversation. Most runs never look
 * inside: the items are kept so that the next request can send them back whole.
 */

import { z } from "zod";
import { type AnyHostedKind, HOSTED_KINDS } from "./hosted-kinds/hosted-kinds.ts";
import { toolSearchFields } from "./hosted-kinds/tool-search.ts";
import { open } from "./open.ts";
import { Tool } from "./tools.ts";

/** The tools that a `tool_search_call` has found. */
export const ToolSearchCallOutput = open({
  type: z.literal("tool_search_output"),
  ...toolSearchFields,
  tools: z.array(Tool),
});
export type ToolSearchCallOutput = z.infer<typeof ToolSearchCallOutput>;

type HostedItem = AnyHostedKind["itemSchemas"][number];

export const HOSTED_ITEM_KINDS = [
  ...HOSTED_KINDS.flatMap(({ itemSchemas }): readonly HostedItem[] => itemSchemas),
  ToolSearchCallOutput,
] as const;
