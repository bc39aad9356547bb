/** The sentence that asks for JSON in words, where an API wants it said, and whether it was said. */

import type { Item } from "../protocol/items.ts";
import type { OutputFormat } from "./provider.ts";

export const JSON_RULE = "Answer with one JSON document and nothing else.";

/**
 * Characters that are looked at, the latest first: looking through megabytes would hold up everybody else. Where
 * the word stands only further on, it is said once more.
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

/** A schema in words, for an API that has no other place for it. */
export function toSchemaRule({
  description,
  schema,
}: Extract<OutputFormat, { type: "json_schema" }>): string {
  const use = description ? ` It is this: ${description}` : "";
  return `${JSON_RULE}${use} It fits this JSON schema:\n${JSON.stringify(schema)}`;
}
