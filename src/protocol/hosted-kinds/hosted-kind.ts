/**
 * The facts of one kind of hosted tool: its schemas, and what the rest of the server must know of its items and
 * events. Each kind is one file of this folder; `hosted-kinds.ts` lists them.
 *
 * No fact is optional: a kind says `undefined` or `{}` for what it does not have, so that none is forgotten.
 */

import type { JsonObject } from "../../base/json.ts";
import type { TypedSchema } from "../open.ts";

export interface HostedKind {
  /** The name in the lists of keys and in the settings: `web_search`. */
  readonly name: string;
  /** The schemas of its tools, one for each shape. */
  readonly tools: readonly TypedSchema[];
  /** Types of tools that mean this kind besides its name: dated ones, and those of vendors. */
  readonly spellings: RegExp | undefined;
  /**
   * Who makes the calls if no vendor does: this server, or the client. A function returns true for the tools of a
   * request that this server makes; the others are the client's, or tools of this server that keys name one by one.
   */
  readonly runs: "server" | "client" | Decide;
  /** The `type`s of a `tool_choice` that forces it without naming a tool. */
  readonly choices: readonly string[];
  /** The facts of its items, by their `type`. */
  readonly items: Readonly<Record<string, ItemFacts>>;
  /** The schemas of those items. */
  readonly itemSchemas: readonly TypedSchema[];
  /** The schemas of events that no other kind has. */
  readonly events: readonly TypedSchema[];
}

/** Takes a tool of the kind. Declared as a method, so that a kind may name its own tool's type. */
type Decide = { decide(tool: Typed): boolean }["decide"];

interface Typed {
  readonly type: string;
}

/** What the server must know of a type of item to number, report, store and show it. */
export interface ItemFacts {
  /** The beginning of its ids: `ws` for `ws_123`. `item` if clients alone make it. */
  readonly idPrefix: string;
  /** The status of one that was interrupted. `incomplete` is set only if the item has a status. */
  readonly cut: "incomplete" | "failed";
  /** Fields that a list of stored items shows even if the item was stored without them. */
  readonly always: JsonObject;
  /** The type of the item with which a client answers it; undefined if the call waits for no answer. */
  readonly answeredBy: string | undefined;
  /**
   * Fields that clients see only if their `include` names them, by their path: `results` of `file_search_call` is
   * `file_search_call.results`. The value says what happens to the others.
   */
  readonly optional: Readonly<Record<string, Hiding>>;
  /** The events that report a call of this server. */
  readonly progress: Progress | undefined;
  /** The events for the text that the model writes into the call. */
  readonly writes: Writing | undefined;
  /** The field of the item that is sent with the last event of its progress. */
  readonly doneWith?: string;
  /** Changes the item for clients, whatever they include. */
  show?(item: Typed): Typed;
  /** Events that come when the model has written the call, without index and number. */
  afterCall?(item: Typed): JsonObject[];
  /** Events that come between the beginning and the end of a result, without index and number. */
  inResult?(item: Typed): JsonObject[];
}

/** `null`: the field is null. `left out`: the field is missing. `shown`: it is shown nevertheless. */
type Hiding = "null" | "left out" | "shown";

export interface Progress {
  /** Sent right after the item's `added`. */
  readonly begun: string;
  /** Sent while the call is made. */
  readonly running: string | undefined;
  readonly done: string;
  readonly failed: string | undefined;
}

export interface Writing {
  readonly delta: string;
  readonly done: string;
  /** The field of the item, and of the `done` event, with the whole text. */
  readonly field: string;
  /** Set if only vendors send these events; this server shows the text with the whole item. */
  readonly isVendors?: true;
}

/** The events of a kind that reports how far it is, but not whether it failed. */
export function toProgress<const Type extends string, const Running extends string>(
  type: Type,
  running: Running,
): {
  readonly begun: `response.${Type}.in_progress`;
  readonly running: `response.${Type}.${Running}`;
  readonly done: `response.${Type}.completed`;
  readonly failed: undefined;
} {
  return {
    begun: `response.${type}.in_progress`,
    running: `response.${type}.${running}`,
    done: `response.${type}.completed`,
    failed: undefined,
  };
}

/** The events of a kind that reports that it failed, but nothing between beginning and end. */
export function toEnds<const Type extends string>(
  type: Type,
): {
  readonly begun: `response.${Type}.in_progress`;
  readonly running: undefined;
  readonly done: `response.${Type}.completed`;
  readonly failed: `response.${Type}.failed`;
} {
  return {
    begun: `response.${type}.in_progress`,
    running: undefined,
    done: `response.${type}.completed`,
    failed: `response.${type}.failed`,
  };
}

/** The events for the text in a field of a call. */
export function toWriting<const Name extends string, const Field extends string>(
  name: Name,
  field: Field,
): {
  readonly delta: `response.${Name}.delta`;
  readonly done: `response.${Name}.done`;
  readonly field: Field;
} {
  return { delta: `response.${name}.delta`, done: `response.${name}.done`, field };
}
