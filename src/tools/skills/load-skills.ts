/**
 * Finds the skills of the user and of the project. A skill of the user wins over a project's of the same
 * name, so that a cloned project does not replace it. An invalid skill is reported in one line, and the
 * others are used.
 */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, parse, resolve } from "node:path";
import { readNotesFile } from "../../base/notes-file.ts";
import { clip } from "../../base/text.ts";
import { SKILL_FILE, type Skill, type SkillScope } from "./skill.ts";
import { parseSkill } from "./skill-file.ts";

export interface SkillPlace {
  readonly scope: SkillScope;
  readonly folder: string;
  readonly uid: number | undefined;
}

/** `shadowed`: an earlier one has the same name. */
type SkillStanding = "used" | "shadowed" | "broken";

export interface FoundSkill {
  /** The folder's name, because a skill that cannot be read has no other. */
  readonly name: string;
  readonly scope: SkillScope;
  readonly folder: string;
  readonly standing: SkillStanding;
  /** Undefined if it is broken. */
  readonly skill: Skill | undefined;
  readonly body: string;
  /** Why it is broken; empty if it is not. */
  readonly problem: string;
  /** Fields that would grant something in other programs and are ignored here. */
  readonly ignored: readonly string[];
}

export interface LoadedSkills {
  /** The usable skills, by name. */
  readonly skills: readonly Skill[];
  readonly found: readonly FoundSkill[];
  /** Skills that were left out and why, one line each. */
  readonly warnings: readonly string[];
}

interface Surroundings {
  /** The user's folder of settings. */
  readonly userFolder: string;
  readonly cwd: string;
  readonly home: string;
  readonly uid: number | undefined;
}

/** In each project folder: ours, and the one that several programs share. */
const PROJECT_FOLDERS = [join(".offshoot", "skills"), join(".agents", "skills")];

/** In falling order of precedence: the first skill with a name is used. */
export function toSkillPlaces({ userFolder, cwd, home, uid }: Surroundings): SkillPlace[] {
  const own = [join(userFolder, "skills"), join(home, ".agents", "skills")];
  const folders: string[] = [];
  for (let at = resolve(cwd); at !== resolve(home); at = dirname(at)) {
    folders.push(...PROJECT_FOLDERS.map((folder) => join(at, folder)));
    if (existsSync(join(at, ".git")) || at === dirname(at)) break;
  }
  return [
    ...own.map((folder) => ({ scope: "user", folder, uid }) as const),
    ...folders.map((folder) => ({ scope: "project", folder, uid }) as const),
  ];
}

/** In one place. A folder with more is not a folder of skills. */
const MAX_SKILLS = 200;

export async function loadSkills(places: readonly SkillPlace[]): Promise<LoadedSkills> {
  const found: FoundSkill[] = [];
  const taken = new Set<string>();
  for (const place of places) {
    for (const name of await listFolders(place.folder)) {
      const one = await readSkill(join(place.folder, name), place);
      if (!one) continue;
      const isTaken = one.standing === "used" && taken.has(one.name);
      found.push(isTaken ? { ...one, standing: "shadowed" } : one);
      if (one.standing === "used") taken.add(one.name);
    }
  }
  const skills = found.flatMap(({ standing, skill }) =>
    standing === "used" && skill ? [skill] : [],
  );
  return {
    skills: skills.sort((a, b) => (a.name < b.name ? -1 : 1)),
    found,
    warnings: found.flatMap(toWarning),
  };
}

function toWarning({ standing, name, folder, problem }: FoundSkill): string[] {
  if (standing !== "broken") return [];
  return [`The skill \`${clip(name, 64)}\` is left out: ${join(folder, SKILL_FILE)} ${problem}.`];
}

/** A folder that is missing or cannot be read is empty. */
async function listFolders(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => !name.startsWith("."))
    .sort()
    .slice(0, MAX_SKILLS);
}

/** Undefined for a folder that is not a skill's. */
async function readSkill(folder: string, place: SkillPlace): Promise<FoundSkill | undefined> {
  const { scope, uid } = place;
  const name = basename(folder);
  // The user's own may be anywhere; a link in a project may not lead out of the folder of skills.
  const root = scope === "user" ? parse(resolve(folder)).root : place.folder;
  const read = await readNotesFile(join(folder, SKILL_FILE), { root, uid });
  if (!read) return undefined;
  const broken = { name, scope, folder, standing: "broken", skill: undefined, body: "" } as const;
  if ("refused" in read) return { ...broken, problem: read.refused, ignored: [] };
  const parsed = await parseSkill(read.text, name);
  if ("problem" in parsed) {
    return { ...broken, problem: `is not a skill: ${parsed.problem}`, ignored: [] };
  }
  const { description, body, ignored } = parsed;
  const skill = { name, description, scope, folder, uid };
  return { name, scope, folder, standing: "used", skill, body, problem: "", ignored };
}
