/**
 * The sentence that asks for JSON, for APIs that require it in the prompt, and the check whether the prompt
 * has it.
 */

import type { Item } from "../protocol/items.ts";
import type { OutputFormat } from "./provider.ts";

export const JSON_RULE = "Answer with one JSON document and nothing else.";

/**
 * How many characters are searched, the latest first: searching megabytes would block other requests. If
 * the word is only further on, the sentence is added again.
 */
const MAX_LOOKED_AT = 256 * 1024;

export function mentionsJson(instructions: string | undefined, items: readonly Item[]): boolean {
  let left = MAX_LOOKED_AT;
  const hasWord = (value: unknown): boolean => {
    if (typeof value === "string") {
      const looked = value.slice(0, Math.max(left, 0));
      left -= looked.length;
      return /json/i.test(looked);
    }
    if (typeof value !== "object" || value === null || left <= 0) return false;
    return Object.values(value).some(hasWord);
  };
  if (hasWord(instructions)) return true;
  return items.findLast((item) => item.type === "message" && hasWord(item)) !== undefined;
}

/** A schema as instructions, for an API without a parameter for it. */
export function toSchemaRule({
  description,
  schema,
}: Extract<OutputFormat, { type: "json_schema" }>): string {
  const use = description ? ` It is this: ${description}` : "";
  return `${JSON_RULE}${use} It fits this JSON schema:\n${JSON.stringify(schema)}`;
}
