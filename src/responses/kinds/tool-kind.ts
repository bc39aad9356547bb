/**
 * The contract of a kind of tool that not every model knows: `custom`, `mcp`, `web_search`. Models are
 * offered functions in its place, their calls become the kind's own items, and such items in a
 * conversation become functions again. So every kind works on every provider.
 *
 * A new kind is one file in `kinds/` and one line where the runtime joins them.
 */

import type { Payer } from "../../agent/payer.ts";
import type { JsonObject } from "../../base/json.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { FunctionTool, Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";

export interface ToolKind {
  /** The `type`s of the tools it serves. */
  readonly toolTypes: readonly string[];
  /** The `type`s of the items it makes and reads. */
  readonly itemTypes: readonly string[];
  /** Set where its tools look for those with `defer_loading`. Opened behind all others, and told of them. */
  readonly finds?: true;
  /**
   * What models are offered for one tool of a request. May ask servers. Rejects what cannot be with
   * `Failure("invalid_request")`; what can only partly be is named in `ignored`. `backing` is the tool
   * that will answer in place of the kind's own, where the settings name one.
   */
  open(tool: Tool, request: KindRequest, backing?: GateTool): Promise<OpenedTool>;
  /** The key of the offer that an item is a call of; undefined for an item that is no call. */
  keyOf(item: Item): string | undefined;
  /**
   * An item of the conversation as functions: a call, its result, both, or nothing. `nameOf` gives the
   * name a key is offered under, or one made of the key where it is not offered now. Pure.
   */
  toFunctions(item: Item, nameOf: (key: string) => string): readonly Item[];
  /** The conversation, calls and results of the kind paired by a `call_id` where they have none. Pure. */
  pair?(items: readonly Item[]): readonly Item[];
}

/** The request that a tool belongs to. */
export interface KindRequest {
  readonly tenant: string;
  /** The run that answers it. */
  readonly runId: string;
  readonly include: ReadonlySet<string>;
  /** This server's own tools that the client may use. */
  readonly catalogue: readonly GateTool[];
  readonly signal: AbortSignal;
  /** Who pays for what a call costs beside the model, by the call's idempotency key. */
  readonly payerOf?: ((idempotencyKey: string) => Payer) | undefined;
  /** The conversation so far. */
  readonly items?: readonly Item[] | undefined;
  /** What the model is not told of before it is found; given to kinds that find. */
  readonly deferred?: readonly DeferredTool[] | undefined;
}

/** A tool that the model is told of once it has looked for it. */
export interface DeferredTool {
  /** The function that the model will call. */
  readonly spec: FunctionTool;
  /** As the client reads that it was found: of a namespace or a server, this one alone. No secrets. */
  readonly tool: Tool;
}

export interface OpenedTool {
  readonly offers: readonly Offer[];
  /** Items that stand at the beginning of the answer: what an MCP server has. */
  readonly listed?: readonly Item[] | undefined;
  /** What of the tool's settings could not be honoured, by name. */
  readonly ignored?: readonly string[] | undefined;
  /** Gives back what was opened, when the run ends. */
  close?(): Promise<void>;
}

/** One function that stands for a tool. */
export interface Offer {
  /** What calls of it are found by: `mcp:files/read`, `custom:apply_patch`. Unique in a request. */
  readonly key: string;
  /** The function, under the name it would like; a name that is taken gets a number. */
  readonly spec: FunctionTool;
  /** Whether an entry of `tool_choice` or `allowed_tools` means it. */
  isMeantBy(choice: JsonObject): boolean;
  /** What of the arguments is shown while the model writes them: all, nothing, or one text field. */
  readonly shows: "all" | "nothing" | { readonly field: string };
  /**
   * The item of a call. Called when the model begins it, with no arguments yet, and when it is whole.
   * `id` is one to give to an item whose call the server makes; others may leave theirs out.
   */
  toItem(call: FunctionCall, id: string): Item;
  /** How the server makes the call; undefined where the client does, or has to agree first. */
  readonly run?: ServerRun | undefined;
  /** Set where the item begins only when the model has said all of the call. */
  readonly late?: LateItem | undefined;
  /** Set where the model is told of it only once it is found: what was found then. */
  readonly deferred?: Tool | undefined;
  /** Whether its function is as a list of its server says that the conversation has. */
  readonly isListed?: boolean | undefined;
  /** How the server makes a call that the client has agreed to. */
  readonly approved?: ServerRun | undefined;
}

export interface LateItem {
  /** The item as it is shown first, from the whole one. */
  begins(item: Item): Item;
  /** What is told between its beginning and its end: events without place and number. */
  tells?(item: Item): readonly JsonObject[];
}

export interface ServerRun {
  /** The tool of the gate; it is called under the offered name. */
  readonly tool: GateTool;
  /** The arguments for the tool, from the call's item. JSON text. */
  toArguments(item: Item): string;
  /** The item, finished, and what follows it. Pure. */
  show(item: Item, result: ToolResult): readonly Item[];
}
