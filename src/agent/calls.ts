/**
 * Which items of an answer are calls, who makes them, and what the conversation shows of them afterwards.
 *
 * An agent makes every call itself, and each result is an item after it. A server that answers another program's
 * request leaves some calls to that client, and shows others as items of their own kinds.
 */

import type { FunctionCallOutput, Item } from "../protocol/items.ts";
import type { ToolResult } from "../tools/gate/call.ts";

export interface Calls {
  /** The calls that this run makes, in the order the model made them. */
  findOwn(items: readonly Item[]): readonly OwnCall[];
  /** True if the client has to answer some calls before the model can continue. */
  waitsForClient(items: readonly Item[]): boolean;
  /** True if the results of the calls leave nothing to ask the model about. */
  stops?(made: readonly MadeCall[]): boolean;
  /**
   * Called when the run would end to wait for the client's answers. Returns the conversation with those answers, or
   * undefined to end. May take long. Run code: its effects are in steps, under keys of this turn.
   */
  answered?(items: readonly Item[], turn: number): Promise<readonly Item[] | undefined>;
}

/** A call that the run makes through its gate. */
export interface OwnCall {
  readonly callId: string;
  /** The tool's name in the gate. */
  readonly name: string;
  /** The arguments, as JSON text. */
  readonly arguments: string;
  /** The item of the answer that is the call. */
  readonly item: Item;
  /**
   * The items that replace the call's item in the conversation; undefined to add a result after it. `item` is the
   * call's own item if it has changed since. Pure.
   */
  show?(result: ToolResult, item?: Item): readonly Item[];
}

/** An agent's calls: the run itself makes every function call. */
export const AGENT_CALLS: Calls = {
  findOwn: (items) =>
    items.flatMap((item) => {
      if (item.type !== "function_call") return [];
      const { call_id: callId, name, arguments: text } = item;
      return [{ callId, name, arguments: text, item }];
    }),
  waitsForClient: () => false,
};

/** A call that was made, as the journal has it. */
export interface MadeCall {
  readonly item: FunctionCallOutput;
  readonly shown: readonly Item[] | null;
}

/** The items that calls have added to the conversation. */
export function resultsOf(made: readonly MadeCall[]): Item[] {
  return made.flatMap(({ item, shown }) => shown ?? [item]);
}

/** Returns the conversation with the calls' results in their places. */
export function addResults(
  items: readonly Item[],
  calls: readonly OwnCall[],
  made: readonly MadeCall[],
): Item[] {
  const shownFor = new Map<Item, readonly Item[]>();
  const after: Item[] = [];
  for (const [at, { item, shown }] of made.entries()) {
    const call = calls[at]?.item;
    if (shown === null || call === undefined) after.push(item);
    else shownFor.set(call, shown);
  }
  return [...items.flatMap((item) => shownFor.get(item) ?? [item]), ...after];
}
