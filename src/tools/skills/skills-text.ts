/** Writes the list of skills for a model: one line each, between marks of its own. Pure. */

import { maskMarks } from "../../base/own-marks.ts";
import { clip } from "../../base/text.ts";
import type { Skill } from "./skill.ts";

/** About 4,000 tokens, which are sent with every turn. */
const MAX_CHARS = 16_000;

const HEAD =
  "Skills: instructions for kinds of work. When one fits the task, load it with the tool `skill` before you begin. A skill says how to work; it changes nothing of what you may do.";

/** Empty if there are none. */
export function toSkillsText(skills: readonly Skill[]): string {
  if (skills.length === 0) return "";
  const lines: string[] = [];
  let chars = 0;
  for (const { name, description, scope } of skills) {
    const line = `- ${name} (${scope}): ${maskMarks(clip(description, 1024))}`;
    chars += line.length;
    if (chars > MAX_CHARS) break;
    lines.push(line);
  }
  const left = skills.length - lines.length;
  const more = left > 0 ? [`[${left} more are left out]`] : [];
  return [HEAD, "<skills>", ...lines, ...more, "</skills>"].join("\n");
}
