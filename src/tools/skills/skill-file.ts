/**
 * Reads the text of a SKILL.md: YAML between two lines of `---`, then the instructions. Only the fields
 * `name` and `description` are used; others, such as `allowed-tools`, are for other programs and grant
 * nothing here.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";

export interface SkillText {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  /** Fields that say what a skill may use; they are ignored. */
  readonly ignored: readonly string[];
}

export type ParsedSkill = SkillText | { readonly problem: string };

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MAX_NAME_CHARS = 64;
export const MAX_DESCRIPTION_CHARS = 1024;

/**
 * Parses a skill, whose name must be `folderName`. The parser is loaded here, so that runs without skills
 * do not pay for it.
 */
export async function parseSkill(text: string, folderName: string): Promise<ParsedSkill> {
  const lines = text.split("\n");
  const isFence = (line: string): boolean => line.trimEnd() === "---";
  const end = lines.findIndex((line, at) => at > 0 && isFence(line));
  if (!isFence(lines[0] ?? "") || end < 0) {
    return problem("it must begin with `---`, `name: …`, `description: …`, `---`");
  }
  const parsed = await parseFields(lines.slice(1, end).join("\n"));
  if (typeof parsed === "string") return problem(parsed);
  const { name, description } = parsed;
  if (typeof name !== "string" || !NAME.test(name) || name.length > MAX_NAME_CHARS) {
    return problem(`\`name\` must be ${MAX_NAME_CHARS} small letters, digits and dashes at most`);
  }
  if (name !== folderName) {
    return problem(`\`name\` is \`${name}\`, and its folder is \`${clip(folderName, 64)}\``);
  }
  if (typeof description !== "string" || description.trim() === "") {
    return problem("`description` is missing: say when the skill is of use");
  }
  if (description.length > MAX_DESCRIPTION_CHARS) {
    return problem(`\`description\` has more than ${MAX_DESCRIPTION_CHARS} characters`);
  }
  const body = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  if (body === "") return problem("there are no instructions below the second `---`");
  const ignored = Object.keys(parsed).filter((field) => GRANTING.test(field));
  return { name, description: clip(description, MAX_DESCRIPTION_CHARS), body, ignored };
}

/** Fields that other programs read as permissions. */
const GRANTING = /^(allowed[-_]tools|tools|permissions|hooks|model)$/i;

/** The fields, or a text that says what is wrong. */
async function parseFields(front: string): Promise<JsonObject | string> {
  const { parseDocument } = await import("yaml");
  try {
    const document = parseDocument(front, { prettyErrors: false });
    const [first] = document.errors;
    if (first) return clip(first.message, 120);
    // Bounded, because an alias of an alias of an alias can expand to more than the memory.
    const fields: unknown = document.toJS({ maxAliasCount: 100 });
    return isJsonObject(fields) ? fields : "there are no `name: value` lines";
  } catch (thrown) {
    return clip(thrown instanceof Error ? thrown.message : String(thrown), 120);
  }
}

function problem(text: string): { readonly problem: string } {
  return { problem: text };
}
