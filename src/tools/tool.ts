/**
 * The contract of a tool: its description for the model, what a call touches, and what it does.
 *
 * A tool that throws gives the model an error, and the run continues; only cancelling ends it. A tool
 * refuses what it must not do with `Failure("forbidden")`, which the gate records. Tools are called through
 * `gate/gate.ts` only.
 */

import type { Json, JsonObject } from "../base/json.ts";
import type { ContentPart } from "../protocol/content.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { RunScope } from "./scope.ts";
import type { Workspace } from "./workspace/workspace.ts";

/**
 * The effect of a call, and whether it needs approval if no rule says otherwise. A tool that runs
 * commands needs none while the sandbox contains them.
 */
export const EFFECTS = {
  read: { asks: false, summary: "Reads files of the workspace." },
  compute: { asks: false, summary: "Runs code that can reach neither files nor the network." },
  own: { asks: false, summary: "A function of the program that embeds the runtime." },
  write: { asks: true, summary: "Changes files of the workspace." },
  execute: { asks: true, summary: "Runs commands; needs no approval inside the sandbox." },
  network: { asks: true, summary: "Sends something to a server on the network." },
  delegate: { asks: false, summary: "Hands a task to a subagent, whose own calls pass the gate." },
  external: {
    asks: true,
    summary: "Runs a program that is not part of Offshoot: an MCP server, a command.",
  },
} as const;
export type Effect = keyof typeof EFFECTS;

export interface Tool {
  readonly spec: FunctionTool;
  /** The name that rules and grants use, if the model calls it by another one. */
  readonly judgedAs?: string | undefined;
  /** Read-only calls of one turn run in parallel; the others run in their order. */
  readonly readOnly: boolean;
  readonly effect: Effect;
  /** The effect of one call, if it does less than the tool can. */
  effectOf?(input: unknown): Effect;
  /** Loads what its calls need; the gate awaits it before `parse`. Missing if there is nothing to load. */
  load?(): Promise<unknown>;
  /** Why a call needs approval although its effect does not: what it may cost. */
  asksAbout?(input: unknown): string | undefined | Promise<string | undefined>;
  /** How many children a call with these arguments, as the model wrote them, would start; none if missing. */
  countChildren?(input: Json): number;
  /** The time limit of a call, if the gate's own limit is too short. */
  readonly timeoutMs?: number | undefined;
  /** Checks the arguments; rejects with `Failure("invalid_request")` that names the problem. */
  parse(input: Json): unknown;
  /** The targets of a call, for the grant and the rules. Missing if it touches nothing that has a name. */
  targets?(input: unknown): Targets;
  /**
   * The approval of this tool by a user. A tool that others can change gives a hash of itself: if it
   * differs from the approved one, the call needs approval again.
   */
  readonly pin?: Pin | undefined;
  /** `input` is the result of `parse`. Text is sent unchanged, anything else as JSON. */
  run(input: unknown, context: ToolContext): Promise<Json | ToolOutput>;
}

/** The targets that a call names. Paths are as the model wrote them; the gate resolves them. */
export interface Targets {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Host names, without ports. */
  readonly hosts?: readonly string[];
  /** Words that start a program, or a text for a shell. */
  readonly command?: { readonly argv: readonly string[] } | { readonly shell: string };
}

export interface Pin {
  /** `unknown`: never approved; `changed`: the tool is not the approved one. */
  standing(): Promise<"agreed" | "changed" | "unknown">;
  /** Remembers that the tool was approved in its present form. */
  agree(): Promise<void>;
}

export interface ToolContext {
  /** The folder that the run works in. Tools for files stay inside it; `sandbox` limits commands. */
  readonly workspace: Workspace;
  /** Runs commands. */
  readonly sandbox: Sandbox;
  /** Objects that the run keeps between calls. */
  readonly scope: RunScope;
  /** True if the grant and the rules let a call reach this host. Called again at every redirect. */
  allowsHost(host: string): boolean;
  readonly signal: AbortSignal;
  /** A key that a repeated attempt at the same call shares: run id and step key. */
  readonly idempotencyKey: string;
  /** The number of our MCP servers above the run, which calls over MCP pass on. */
  readonly mcpDepth?: number | undefined;
  /** Reports progress to clients, as an event of the Responses API without index and sequence number. */
  tell(event: JsonObject): Promise<void>;
}

/** A result with more than text: images and files go to the model as parts after it. */
export class ToolOutput {
  readonly value: Json;
  readonly parts: readonly ContentPart[];
  /** True if the value describes an error, in the tool's own form. */
  readonly failed: boolean;
  /** For programs that show the call to a person: sources, scores, ids. Never for the model. */
  readonly details: Json | undefined;

  constructor(
    value: Json,
    parts: readonly ContentPart[],
    { failed = false, details }: { failed?: boolean; details?: Json } = {},
  ) {
    this.value = value;
    this.parts = parts;
    this.failed = failed;
    this.details = details;
  }
}
