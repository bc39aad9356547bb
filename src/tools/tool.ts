/**
 * The contract of a tool: what the model is told, what a call of it touches, and what it does.
 *
 * A tool that throws is news for the model, not the end of the run; only cancelling is. What it must
 * not do it refuses with `Failure("forbidden")`, which the gate records. Tools are reached through
 * `gate/gate.ts` alone.
 */

import type { Json, JsonObject } from "../base/json.ts";
import type { ContentPart } from "../protocol/content.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { Scope } from "./scope.ts";
import type { Workspace } from "./workspace/workspace.ts";

/**
 * What a call does to the world, and whether that is asked about when no rule says otherwise. What
 * runs commands is not asked about where the sandbox holds them.
 */
export const EFFECTS = {
  read: { asks: false, summary: "Reads files of the workspace." },
  compute: { asks: false, summary: "Runs code that can reach neither files nor the network." },
  own: { asks: false, summary: "A function of the program that embeds the runtime." },
  write: { asks: true, summary: "Changes files of the workspace." },
  execute: { asks: true, summary: "Runs commands; not asked about inside the sandbox." },
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
  /** The name that rules and grants know it by, where the model calls it by another one. */
  readonly judgedAs?: string | undefined;
  /** Read-only calls of one turn run side by side; the others run in the order they were made. */
  readonly readOnly: boolean;
  readonly effect: Effect;
  /** The effect of one call, where it does less than the tool can. */
  effectOf?(input: unknown): Effect;
  /** Loads what its calls need; the gate awaits it before `parse`. Left out where all of it is there. */
  load?(): Promise<unknown>;
  /** Why a call is asked about although its effect is not: what it may cost. */
  asksAbout?(input: unknown): string | undefined | Promise<string | undefined>;
  /** How many children a call with these arguments starts, as the model wrote them; none where it is left out. */
  countChildren?(input: Json): number;
  /** How long a call may take, where the gate's own limit is too short. */
  readonly timeoutMs?: number | undefined;
  /** Checks the arguments; rejects with `Failure("invalid_request")` that names what is wrong. */
  parse(input: Json): unknown;
  /** What the call would touch, for the grant and the rules. Left out where it touches nothing named. */
  targets?(input: unknown): Targets;
  /**
   * What was agreed to when a person agrees to this tool. A tool that others can change gives a hash
   * of itself: where it is not the one agreed to, the call is asked about again.
   */
  readonly pin?: Pin | undefined;
  /** `input` is what `parse` gave. Text is sent as it is, anything else as JSON. */
  run(input: unknown, context: ToolContext): Promise<Json | ToolOutput>;
}

/** What a call names. Paths are as the model wrote them; the gate resolves them. */
export interface Targets {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Host names, without ports. */
  readonly hosts?: readonly string[];
  /** Words that start a program, or a text for a shell. */
  readonly command?: { readonly argv: readonly string[] } | { readonly shell: string };
}

export interface Pin {
  /** `unknown`: never agreed to; `changed`: it is another tool than the one agreed to. */
  standing(): Promise<"agreed" | "changed" | "unknown">;
  /** Remembers that it was agreed to as it is. */
  agree(): Promise<void>;
}

export interface ToolContext {
  /** The folder the run works in. Tools for files stay inside it; what holds commands is `sandbox`. */
  readonly workspace: Workspace;
  /** Where commands run. */
  readonly sandbox: Sandbox;
  /** What the run keeps between calls. */
  readonly scope: Scope;
  /** Whether the grant and the rules let a call reach this host; asked again at every redirect. */
  allowsHost(host: string): boolean;
  readonly signal: AbortSignal;
  /** The same for a repeated attempt at the same call: run id and step key. */
  readonly idempotencyKey: string;
  /** How many MCP servers of ours stand above the run; what it calls over MCP is told. */
  readonly mcpDepth?: number | undefined;
  /** Tells those who watch how far it is, as an event of the Responses API without place and number. */
  tell(event: JsonObject): Promise<void>;
}

/** A result with more than text: images and files go to the model as parts behind it. */
export class ToolOutput {
  readonly value: Json;
  readonly parts: readonly ContentPart[];
  /** Whether the value says what went wrong, in a form that is the tool's own. */
  readonly failed: boolean;
  /** What only those see who show the call to a person: sources, scores, ids. Never the model. */
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
