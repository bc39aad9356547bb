/** Builds arguments for an unknown tool: its JSON schema, filled with words of the request. */

import type { Json, JsonObject } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import { createEvidence } from "./schema/evidence.ts";
import { fillSchema } from "./schema/fill-schema.ts";
import { fits } from "./schema/fits.ts";
import { toList, toObject, typesOf } from "./schema/shape.ts";

/**
 * Returns an object that fits the parameters, if one can be made. `material` is the last place to look for
 * values.
 */
export function buildArguments(
  tool: FunctionTool,
  words: string,
  material: readonly string[] = [],
): JsonObject {
  const schema: JsonObject = { type: "object", ...tool.parameters };
  const request = withoutMention(words, tool.name);
  const evidence = createEvidence({ texts: [request, ...material] });
  const filled = fillSchema(schema, evidence);
  const made: Record<string, Json | undefined> = isJsonObject(filled) ? { ...filled } : {};
  for (const key of toList(schema["required"]).map(String)) {
    const part = toObject(toObject(schema["properties"])[key]);
    const isPrompt = PROMPT_KEYS.test(key) && evidence.lookUp(key).length === 0;
    // A text without a value gets the request itself: a query, a prompt, a question.
    const isOpen = typesOf(part).includes("string") && (isPrompt || made[key] === "unknown");
    if (isOpen && fits(part, request, schema)) made[key] = request;
  }
  return made;
}

/** True if every required argument has words of the request. */
export function hasArguments(tool: FunctionTool, words: string): boolean {
  const required = toList(tool.parameters?.["required"]).map(String);
  const made = buildArguments(tool, words);
  return required.every((key) => made[key] !== undefined && !STAND_INS.has(made[key]));
}

const STAND_INS: ReadonlySet<Json> = new Set(["unknown", ""]);

const PROMPT_KEYS = /^(prompt|query|question|task|task_prompt|instructions?|request)$/i;

/**
 * In "Use the get_weather tool for Paris" the words up to "for" are about the tool; the rest is the
 * content.
 */
function withoutMention(text: string, name: string): string {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const mention = new RegExp(
    `^.*?\\b(?:call|use|using|run|invoke|try|with)\\s+(?:the\\s+)?(?:tool\\s+)?["'\`]?${escaped}["'\`]?(?:\\s+(?:tool|function))?\\s*(?=\\S)`,
    "is",
  );
  const rest = text.replace(mention, "").trim();
  return rest === "" ? text : rest.replace(/^(?:with|to|and|on)\s+/i, "");
}
