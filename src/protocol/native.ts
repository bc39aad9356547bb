/** What a model's vendor does itself of a request. The vendors answer it; the Responses API asks it. */

import type { Item } from "./items.ts";
import type { Tool } from "./tools.ts";

/** The request around a tool. */
export interface AskedTools {
  readonly tools: readonly Tool[];
  /** What the client wants to see (`include`). */
  readonly include: readonly string[];
}

export interface Native {
  /** Whether the vendor runs the tool for this request, or knows it under its own type. */
  runs(tool: Tool, asked: AskedTools): boolean;
  /** Fields of a tool that the vendor has no word for, and that are not worth another way. */
  lost(tool: Tool): readonly string[];
  /** Whether it reads items of this type, whoever made them. */
  knows(type: string): boolean;
  /** Whether an item is its own, or one that it can be given back. */
  owns(item: Item): boolean;
  /** Whether what the tool costs is known. */
  isPriced(tool: Tool): boolean;
  /** Whether the tool reads what the operator's account keeps with the vendor. */
  readsStores(tool: Tool): boolean;
}
