/**
 * The definition of a command as data: its flags, its documentation, and the place of its code.
 *
 * Help, completions and `docs/cli.md` are made from these rows, so that each flag is described once.
 */

import type { Io } from "./io.ts";

export interface CliCommand {
  /** One line, no full stop. */
  readonly summary: string;
  /** The arguments after the command's name: `[PROMPT]`, `list|show ID`. */
  readonly usage: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Subcommands by name with a line each, if the first word after the command is one. */
  readonly subcommands?: Readonly<Record<string, string>>;
  /** The operands of a subcommand that completion can list. */
  readonly operands?: { readonly kind: CompletedKind; readonly notFor: readonly string[] };
  /**
   * The fields of the JSON document that it reads from standard input, with the meaning of each.
   */
  readonly input?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /**
   * True if it may ask a model or lists available models, so the stored keys are read before it starts.
   */
  readonly keys?: true;
  /** Imports the code of this command, so that no other code is loaded. */
  load(): Promise<{ run: RunCommand }>;
}

/** The kinds of words that completions look up. */
export type CompletedKind =
  | "models"
  | "runs"
  | "sessions"
  | "agents"
  | "skills"
  | "templates"
  | "vendors";

export interface CommandOption {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /**
   * For a flag whose value is optional: what the next word, or the word after `=`, must look like to be its value.
   */
  readonly optional?: RegExp;
  /** May be given several times. */
  readonly multiple?: true;
  /** The placeholder of the value: `FILE`, `N`. */
  readonly value?: string;
  /** The values that it accepts, for completion and checking. */
  readonly choices?: readonly string[];
  /** Values for help and completion. The reader of the value checks it. */
  readonly offers?: readonly string[];
  /** The kind that `offshoot completions words` lists for it. */
  readonly complete?: CompletedKind;
  /** The subcommands that have the flag; all of them when left out. */
  readonly only?: readonly string[];
  readonly summary: string;
}

/** The description of an option in help and completions: `list, cost: how many runs (20)`. */
export function describeOption({ only, summary }: CommandOption): string {
  return only ? `${only.join(", ")}: ${summary}` : summary;
}

/** Returns the exit code. Rejects with a `Failure` that `main.ts` shows as one line. */
export type RunCommand = (call: CommandCall, io: Io) => Promise<number>;

export interface CommandCall {
  readonly options: Options;
  readonly words: readonly string[];
}

export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
