/** A skill: a folder with a SKILL.md that says when to use it and how to do the work. It grants nothing. */

/** The owner: the user, or the current project. */
export type SkillScope = "user" | "project";

export interface Skill {
  readonly name: string;
  /** When to use it. The model gets the descriptions of all skills. */
  readonly description: string;
  readonly scope: SkillScope;
  /** The folder of its SKILL.md and its other files. */
  readonly folder: string;
  /** The owner whose files are read, in addition to root's; undefined if the system does not say. */
  readonly uid: number | undefined;
}

export const SKILL_FILE = "SKILL.md";
