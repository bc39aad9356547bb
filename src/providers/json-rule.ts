/** The sentence that asks for JSON in words, where an API wants it said, and whether it was said. */

import type { Item } from "../protocol/items.ts";
import type { OutputFormat } from "./provider.ts";

export const JSON_RULE = "Answer with one JSON document and nothing else.";

export function mentionsJson(instructions: string | undefined, items: readonly Item[]): boolean {
  const messages = items.filter((item) => item.type === "message");
  return /json/i.test(instructions ?? "") || /json/i.test(JSON.stringify(messages));
}

/** A schema in words, for an API that has no other place for it. */
export function toSchemaRule({
  description,
  schema,
}: Extract<OutputFormat, { type: "json_schema" }>): string {
  const use = description ? ` It is this: ${description}` : "";
  return `${JSON_RULE}${use} It fits this JSON schema:\n${JSON.stringify(schema)}`;
}
