/**
 * Which items of an answer are calls, who makes them, and what the conversation has of them afterwards.
 *
 * An agent makes every call itself, and a result is an item behind it. A server that answers somebody
 * else's request leaves some to that client, and shows others as items of their own.
 */

import type { FunctionCallOutput, Item } from "../protocol/items.ts";
import type { ToolResult } from "../tools/gate/call.ts";

export interface Calls {
  /** The calls that this run makes, in the order the model made them. */
  findOwn(items: readonly Item[]): readonly OwnCall[];
  /** Whether somebody else has to answer before the model can go on. */
  waitsForClient(items: readonly Item[]): boolean;
  /** Whether what came of the calls leaves nothing to ask the model about. */
  stops?(made: readonly MadeCall[]): boolean;
  /**
   * Asked where the run would end for somebody else's answers: the conversation with them, or undefined
   * to end. May take long. Run code: what it does is in steps, under keys of this turn.
   */
  answered?(items: readonly Item[], turn: number): Promise<readonly Item[] | undefined>;
}

/** A call that the run makes through its gate. */
export interface OwnCall {
  readonly callId: string;
  /** The tool, by the name the gate knows it under. */
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** The item of the answer that is the call. */
  readonly item: Item;
  /**
   * What stands in the conversation in place of the item; undefined for a result behind it. `item` is
   * the call's own item where it has changed since. Pure.
   */
  show?(result: ToolResult, item?: Item): readonly Item[];
}

/** Of an agent: every function that is called is its own. */
export const AGENT_CALLS: Calls = {
  findOwn: (items) =>
    items.flatMap((item) => {
      if (item.type !== "function_call") return [];
      const { call_id: callId, name, arguments: text } = item;
      return [{ callId, name, arguments: text, item }];
    }),
  waitsForClient: () => false,
};

/** A call that was made, as it stands in the journal. */
export interface MadeCall {
  readonly item: FunctionCallOutput;
  readonly shown: readonly Item[] | null;
}

/** What calls have added to the conversation. */
export function resultsOf(made: readonly MadeCall[]): Item[] {
  return made.flatMap(({ item, shown }) => shown ?? [item]);
}

/** The conversation with the calls' results in their places. */
export function addResults(
  items: readonly Item[],
  calls: readonly OwnCall[],
  made: readonly MadeCall[],
): Item[] {
  const shownFor = new Map<Item, readonly Item[]>();
  const behind: Item[] = [];
  for (const [at, { item, shown }] of made.entries()) {
    const call = calls[at]?.item;
    if (shown === null || call === undefined) behind.push(item);
    else shownFor.set(call, shown);
  }
  return [...items.flatMap((item) => shownFor.get(item) ?? [item]), ...behind];
}
