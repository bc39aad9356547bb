/**
 * Which parts of a request a model's vendor does itself. The vendors answer that; the Responses API asks.
 */

import type { Item } from "./items.ts";
import type { Tool } from "./tools.ts";

/** The request that a tool is part of. */
export interface AskedTools {
  readonly tools: readonly Tool[];
  /** The optional output that the client asks for (`include`). */
  readonly include: readonly string[];
}

export interface Native {
  /** True if the vendor runs the tool for this request, or knows it under its own type. */
  runs(tool: Tool, asked: AskedTools): boolean;
  /** Fields of a tool that the vendor does not support, and that are not worth another way. */
  lost(tool: Tool): readonly string[];
  /** True if it reads items of this type, whatever made them. */
  knows(type: string): boolean;
  /** True if an item is its own, or one that can be sent back to it. */
  owns(item: Item): boolean;
  /** True if the price of the tool is known. */
  isPriced(tool: Tool): boolean;
  /** True if the tool reads data that the operator's account stores with the vendor. */
  readsStores(tool: Tool): boolean;
}
