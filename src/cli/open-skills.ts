/** Finds the skills for a command: the user's and those of the project in which it works. */

import { dirname } from "node:path";
import { userPaths } from "../runtime/paths.ts";
import type { ToolSettings } from "../runtime/toolbox.ts";
import { type LoadedSkills, loadSkills, toSkillPlaces } from "../tools/skills/load-skills.ts";
import { SKILL_TOOL_NAME } from "../tools/skills/skill-tool.ts";
import type { Io } from "./io.ts";

export async function openSkills({
  env,
  home,
  cwd,
}: Pick<Io, "env" | "home" | "cwd">): Promise<LoadedSkills> {
  // In the usual folder of the configuration, even if `OFFSHOOT_CONFIG` names another file.
  const { configFile } = userPaths({ ...env, OFFSHOOT_CONFIG: undefined }, home);
  const uid = process.getuid?.();
  return await loadSkills(toSkillPlaces({ userFolder: dirname(configFile), cwd, home, uid }));
}

/** For a run whose tools are named already: skills are searched only if it may load one. */
export async function withSkills(
  settings: ToolSettings | undefined,
  tools: readonly string[],
  place: Pick<Io, "env" | "home" | "cwd">,
): Promise<ToolSettings | undefined> {
  if (!tools.includes(SKILL_TOOL_NAME)) return settings;
  return { ...settings, skills: (await openSkills(place)).skills };
}
