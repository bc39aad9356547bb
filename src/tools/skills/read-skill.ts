/** Reads for the tool `skill`: the instructions with the list of a skill's other files, or one of those. */

import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { Failure } from "../../base/failure.ts";
import { readNotesFile } from "../../base/notes-file.ts";
import { maskMarks } from "../../base/own-marks.ts";
import { cutToBytes } from "../../base/text.ts";
import { SKILL_FILE, type Skill } from "./skill.ts";
import { parseSkill } from "./skill-file.ts";

/** About 16,000 tokens. A model does not follow longer instructions well. */
const MAX_BYTES = 64 * 1024;

/** Read again at each call, so that a changed file is used. */
export async function readSkillText(skill: Skill): Promise<string> {
  const { name, scope, folder } = skill;
  const read = await readWords(skill, SKILL_FILE);
  const parsed = await parseSkill(read, name);
  if ("problem" in parsed) throw toUnreadable(skill, SKILL_FILE, parsed.problem);
  const files = await listFiles(folder);
  const others = files.length === 0 ? "" : `\nOther files of the skill: ${files.join(", ")}.`;
  const whose = scope === "user" ? "the person you work for" : "the project";
  const mark = `<skill name="${name}" from="${whose}">`;
  const body = maskMarks(cut(parsed.body));
  return `${mark}\n${body}\n</skill>${others}`;
}

export async function readSkillFile(skill: Skill, file: string): Promise<string> {
  return maskMarks(cut(await readWords(skill, file)));
}

async function readWords(skill: Skill, file: string): Promise<string> {
  const { folder, uid } = skill;
  const read = await readNotesFile(join(folder, file), { root: folder, uid });
  if (!read) throw toUnreadable(skill, file, "is not there");
  if ("refused" in read) throw toUnreadable(skill, file, read.refused);
  return read.text;
}

function toUnreadable({ name }: Skill, file: string, why: string): Failure {
  return new Failure("forbidden", `\`${file}\` of the skill \`${name}\` is not read: it ${why}.`);
}

function cut(text: string): string {
  const short = cutToBytes(text, MAX_BYTES);
  if (short.length === text.length) return text;
  const left = Buffer.byteLength(text) - Buffer.byteLength(short);
  return `${short}\n[${left} bytes more are left out]`;
}

const MAX_FILES = 100;
const MAX_DEPTH = 3;

/** The names of the files; links are not followed. */
async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const walk = async (at: string, depth: number): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (files.length >= MAX_FILES || entry.name.startsWith(".")) continue;
      const path = join(at, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH) await walk(path, depth + 1);
      else if (entry.isFile() && path !== join(folder, SKILL_FILE))
        files.push(relative(folder, path));
    }
  };
  await walk(folder, 1);
  return files;
}
