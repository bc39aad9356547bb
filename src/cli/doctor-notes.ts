/**
 * The checks of `offshoot doctor` for the prompt of a model: AGENTS.md and skills that are refused, shortened or too
 * large.
 */

import { dirname } from "node:path";
import type { Config } from "../runtime/config/config.ts";
import { userPaths } from "../runtime/paths.ts";
import { readProjectNotes } from "../runtime/prompt/project-notes.ts";
import type { DoctorCheck, DoctorSurroundings } from "./doctor-check.ts";
import { openSkills } from "./open-skills.ts";

export async function checkNotes(
  { env, home, cwd }: DoctorSurroundings,
  config: Config | undefined,
): Promise<DoctorCheck[]> {
  const { configFile } = userPaths({ ...env, OFFSHOOT_CONFIG: undefined }, home);
  const search = { cwd, home, userFolder: dirname(configFile), uid: process.getuid?.() };
  const notes =
    config?.get("project_notes") === false
      ? { parts: [], warnings: [] }
      : await readProjectNotes(search);
  const skills =
    config?.get("skills") === false
      ? { skills: [], warnings: [] }
      : await openSkills({ env, home, cwd });
  const used = notes.parts.filter(({ text }) => text !== "").map(({ source }) => source);
  return [
    toCheck("notes", used.join(", ") || "no AGENTS.md"),
    ...notes.warnings.map((warning) => toCheck("notes", warning, "gap")),
    toCheck("skills", skills.skills.map(({ name }) => name).join(", ") || "none"),
    ...skills.warnings.map((warning) => toCheck("skills", warning, "gap")),
  ];
}

function toCheck(name: string, found: string, status: DoctorCheck["status"] = "ok"): DoctorCheck {
  return { name, status, found, advice: undefined };
}
