/** A skill: a folder with a SKILL.md, which says when it is of use and how the work is done. It grants nothing. */

/** Whose it is: the user's own, or the project's that is worked in. */
export type SkillScope = "user" | "project";

export interface Skill {
  readonly name: string;
  /** When it is of use; all of them are told to the model. */
  readonly description: string;
  readonly scope: SkillScope;
  /** Where its SKILL.md and its other files are. */
  readonly folder: string;
  /** Whose files are read, beside those of root; undefined where the system does not say. */
  readonly uid: number | undefined;
}

export const SKILL_FILE = "SKILL.md";
