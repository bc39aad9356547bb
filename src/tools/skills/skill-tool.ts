/** `skill`: loads a skill's instructions, or one of its other files. It reads only below the skill's folder. */

import { Failure } from "../../base/failure.ts";
import { defineBuiltin, optionalText, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";
import type { Skill } from "./skill.ts";

/** The tool's name, also in `agent/told-parts.ts`, which decides which models get the list of skills. */
export const SKILL_TOOL_NAME = "skill";

export function createSkillTool(skills: readonly Skill[]): Tool {
  return defineBuiltin({
    name: SKILL_TOOL_NAME,
    description:
      "Load a skill: instructions for a kind of work. Give its name; with `file` one of the files that it names.",
    parameters: {
      name: text("The skill's name, from the list.", { minLength: 1 }),
      file: optionalText("A file of the skill, relative to its folder."),
    },
    readOnly: true,
    effect: "read",
    async run({ name, file }) {
      const skill = skills.find((one) => one.name === name);
      if (!skill) throw toUnknown(name, skills);
      const { readSkillFile, readSkillText } = await import("./read-skill.ts");
      return file === undefined ? await readSkillText(skill) : await readSkillFile(skill, file);
    },
  });
}

function toUnknown(name: string, skills: readonly Skill[]): Failure {
  const names = skills.map((skill) => skill.name).join(", ");
  return new Failure("invalid_request", `Unknown skill \`${name}\`. Skills: ${names}.`);
}
