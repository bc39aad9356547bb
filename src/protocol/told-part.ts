/** What a model is told before the conversation, in parts, as a run's start names them. */

export interface ToldPart {
  /** The parts stand in the order of these kinds. */
  readonly part: ToldKind;
  /** Whose words they are: a file, a flag, or the package's own. */
  readonly source: string;
  /** Where its text begins in `instructions`, and how long it is. */
  readonly at: number;
  readonly chars: number;
  /** How many bytes of the file were left out; not there where none were. */
  readonly cut_bytes?: number | undefined;
  /** Why nothing of the file was told, to be put after its name: `is not UTF-8 text`. */
  readonly refused?: string | undefined;
}

/**
 * `base`: what it is and how it works, or the user's own in its place. `delegation`: how to delegate well. `place`:
 * folder, platform, date, git branch. `notes`: an AGENTS.md or CLAUDE.md. `skills`: which there are. `system`: what the
 * user, an agent's file or a parent says.
 */
export type ToldKind = "base" | "delegation" | "place" | "notes" | "skills" | "system";
