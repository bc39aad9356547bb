/**
 * A command as data: what parses it, what documents it, and where its code is.
 *
 * Help, completions and `docs/cli.md` are made from these rows; nothing about a flag is said twice.
 */

import type { Io } from "./io.ts";

export interface Command {
  /** One line, no full stop. */
  readonly summary: string;
  /** What stands behind the name: `[PROMPT]`, `list|show ID`. */
  readonly usage: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Subcommands by name with a line each, when the first word behind the command is one. */
  readonly subcommands?: Readonly<Record<string, string>>;
  /** What follows a subcommand, for completion, where it can be listed. */
  readonly operands?: { readonly kind: CompletedKind; readonly notFor: readonly string[] };
  /** The fields of the JSON document that it reads from standard input, with what each means. */
  readonly input?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /** It may ask a model or says which can be asked, so the stored keys are read before it starts. */
  readonly keys?: true;
  /** Imports the code, so that a command pays for itself alone. */
  load(): Promise<{ run: RunCommand }>;
}

/** What is looked up when a shell completes a word. */
export type CompletedKind =
  | "models"
  | "runs"
  | "sessions"
  | "agents"
  | "skills"
  | "templates"
  | "vendors";

export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** Of a flag that may stand alone: what the word after it, or after `=`, must look like to be its value. */
  readonly optional?: RegExp;
  /** May be given several times. */
  readonly multiple?: true;
  /** The placeholder of the value: `FILE`, `N`. */
  readonly value?: string;
  /** The words it takes, for completion and checking. */
  readonly choices?: readonly string[];
  /** Words for help and completion that whoever reads the value checks. */
  readonly offers?: readonly string[];
  /** What `offshoot completions words` lists for it. */
  readonly complete?: CompletedKind;
  /** The subcommands that it is for; all of them when left out. */
  readonly only?: readonly string[];
  readonly summary: string;
}

/** What help and completions say of it: `list, cost: how many runs (20)`. */
export function describeOption({ only, summary }: Option): string {
  return only ? `${only.join(", ")}: ${summary}` : summary;
}

/** Returns the exit code. Rejects with a `Failure` that `main.ts` shows as one line. */
export type RunCommand = (call: CommandCall, io: Io) => Promise<number>;

export interface CommandCall {
  readonly options: Options;
  readonly words: readonly string[];
}

export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
