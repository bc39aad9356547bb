/** The parts of the prompt before the conversation, as a run's start names them. */

export interface ToldPart {
  /** The kind of part. The parts are in the order of these kinds. */
  readonly part: ToldKind;
  /** Where the text comes from: a file, a flag, or the package itself. */
  readonly source: string;
  /** The start of its text in `instructions`, and its length. */
  readonly at: number;
  readonly chars: number;
  /** How many bytes of the file were left out; missing if none were. */
  readonly cut_bytes?: number | undefined;
  /** Why nothing of the file was told, to be put after its name: `is not UTF-8 text`. */
  readonly refused?: string | undefined;
}

/**
 * `base`: what the agent is and how it works, or the user's own text in its place. `delegation`: how to
 * delegate well. `place`: folder, platform, date, git branch. `notes`: an AGENTS.md or CLAUDE.md. `skills`:
 * the available skills. `system`: the instructions of the user, an agent's file or a parent.
 */
export type ToldKind = "base" | "delegation" | "place" | "notes" | "skills" | "system";
