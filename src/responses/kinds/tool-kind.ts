/**
 * The contract of a kind of tool that not every model knows: `custom`, `mcp`, `web_search`. Models are offered
 * functions in its place, their calls become the kind's own items, and such items in a conversation become functions
 * again. So every kind works on every provider.
 *
 * A new kind is a file of facts in `src/protocol/hosted-kinds/` and a line in its list, a file here, and a line in
 * `src/responses/run/machine-kinds.ts`, which opens it. The facts say how its items are numbered, reported, stored and
 * shown; this file says what happens with its calls.
 */

import type { Payer } from "../../agent/payer.ts";
import type { JsonObject } from "../../base/json.ts";
import type { HostedKind } from "../../protocol/hosted-kinds/hosted-kind.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import { typesOf as toTypes } from "../../protocol/open.ts";
import type { FunctionTool, Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";

/** The types of the tools and items of a kind, as its facts say. */
export function typesOf({ tools, items }: HostedKind): Pick<ToolKind, "toolTypes" | "itemTypes"> {
  return { toolTypes: toTypes(tools), itemTypes: Object.keys(items) };
}

export interface ToolKind {
  /** The `type`s of its tools. */
  readonly toolTypes: readonly string[];
  /** The `type`s of the items that it makes and reads. */
  readonly itemTypes: readonly string[];
  /**
   * Set if its tools search those with `defer_loading`. Opened after all others, and given those.
   */
  readonly finds?: true;
  /**
   * Returns what models are offered for one tool of a request. May ask servers. Rejects an impossible tool with
   * `Failure("invalid_request")`; settings that cannot be applied are named in `ignored`. `backing` is the tool that
   * answers in place of the kind's own, if the settings name one.
   */
  open(tool: Tool, request: KindRequest, backing?: GateTool): Promise<OpenedTool>;
  /** The key of the offer whose call an item is; undefined for an item that is not a call. */
  keyOf(item: Item): string | undefined;
  /**
   * Turns an item of the conversation into functions: a call, its result, both, or nothing. `nameOf` returns the name
   * under which a key is offered, or one made from the key if it is not offered now. Pure.
   */
  toFunctions(item: Item, nameOf: (key: string) => string): readonly Item[];
  /** Gives calls and results of the kind without a `call_id` one that pairs them. Pure. */
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
  /** The payer of a call's cost besides the model's, by the call's idempotency key. */
  readonly payerOf?: ((idempotencyKey: string) => Payer) | undefined;
  /** All tools of the request that this server runs. */
  readonly tools?: readonly Tool[] | undefined;
  /** The conversation so far. */
  readonly items?: readonly Item[] | undefined;
  /** Tools that the model gets only when they are found; passed to kinds that search. */
  readonly deferred?: readonly DeferredTool[] | undefined;
}

/** A tool that the model gets only after a search has found it. */
export interface DeferredTool {
  /** The function that the model will call. */
  readonly spec: FunctionTool;
  /**
   * The tool as the client reads it when it was found: of a namespace or a server, only this tool. No secrets.
   */
  readonly tool: Tool;
}

export interface OpenedTool {
  readonly offers: readonly Offer[];
  /** Items at the beginning of the answer: the tools of an MCP server. */
  readonly listed?: readonly Item[] | undefined;
  /** Names of the tool's settings that could not be applied. */
  readonly ignored?: readonly string[] | undefined;
  /** Releases what was opened, when the run ends. */
  close?(): Promise<void>;
}

/** One function that is offered for a tool. */
export interface Offer {
  /**
   * The key that its calls are found by: `mcp:files/read`, `custom:apply_patch`. Unique in a request.
   */
  readonly key: string;
  /** The function, under its preferred name; a name that is taken gets a number. */
  readonly spec: FunctionTool;
  /** True if an entry of `tool_choice` or `allowed_tools` means it. */
  isMeantBy(choice: JsonObject): boolean;
  /**
   * The part of the arguments that the client sees while the model writes them: all, nothing, or one text field.
   */
  readonly shows: "all" | "nothing" | { readonly field: string };
  /**
   * The item of a call. Called when the model begins the call, with no arguments yet, and when it is complete. `id`
   * is for an item whose call the server makes; others may leave theirs out.
   */
  toItem(call: FunctionCall, id: string): Item;
  /** How the server makes the call; undefined if the client makes it, or must approve it first. */
  readonly run?: ServerRun | undefined;
  /** Set if the item begins only when the model has written the whole call. */
  readonly late?: LateItem | undefined;
  /** Set if the model gets it only when it is found: the tool that was found. */
  readonly deferred?: Tool | undefined;
  /** True if its function comes from a list of its server in the conversation. */
  readonly isListed?: boolean | undefined;
  /** How the server makes a call that the client has approved. */
  readonly approved?: ServerRun | undefined;
}

export interface LateItem {
  /** The item as it is shown first, made from the complete one. */
  begins(item: Item): Item;
  /** Events between its beginning and its end, without index and number. */
  tells?(item: Item): readonly JsonObject[];
}

export interface ServerRun {
  /** The tool of the gate; it is called under the offered name. */
  readonly tool: GateTool;
  /** The arguments for the tool, from the call's item. JSON text. */
  toArguments(item: Item): string;
  /** The finished item, and the items after it. Pure. */
  show(item: Item, result: ToolResult): readonly Item[];
}
