/** Arguments for a tool nobody planned for: its JSON schema, filled from the words of the request. */

import type { Json, JsonObject } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import type { Conversation } from "./conversation.ts";
import { createEvidence } from "./schema/evidence.ts";
import { fillSchema } from "./schema/fill-schema.ts";
import { fits } from "./schema/fits.ts";
import { toList, toObject, typesOf } from "./schema/shape.ts";

/** Always an object that fits the parameters, if one can be made. */
export function buildArguments(tool: FunctionTool, conversation: Conversation): JsonObject {
  const schema: JsonObject = { type: "object", ...tool.parameters };
  const request = withoutMention(conversation.asked.join("\n"), tool.name);
  const texts = [request, ...conversation.attachments.flatMap(({ text }) => text ?? [])];
  const filled = fillSchema(schema, createEvidence({ texts }));
  const made = isJsonObject(filled) ? filled : {};
  return giveRequest(made, schema, request);
}

/** Whether every argument that must be there has words of the request behind it. */
export function hasArguments(tool: FunctionTool, conversation: Conversation): boolean {
  const required = toList(tool.parameters?.["required"]).map(String);
  const made = buildArguments(tool, conversation);
  return required.every((key) => made[key] !== undefined && !STAND_INS.has(made[key]));
}

const STAND_INS: ReadonlySet<Json> = new Set(["unknown", ""]);

/** A text argument nothing was found for gets the request itself: a query, a prompt, a question. */
function giveRequest(made: JsonObject, schema: JsonObject, request: string): JsonObject {
  const given: Record<string, Json | undefined> = { ...made };
  for (const key of toList(schema["required"]).map(String)) {
    const part = toObject(toObject(schema["properties"])[key]);
    const isPrompt = PROMPT_KEYS.test(key) && typesOf(part).includes("string");
    if ((isPrompt || given[key] === "unknown") && fits(part, request, schema)) given[key] = request;
  }
  return given;
}

const PROMPT_KEYS = /^(prompt|query|question|task|task_prompt|instructions?|request)$/i;

/** "Use the get_weather tool for Paris" speaks of the tool up to "for"; what follows is the content. */
function withoutMention(text: string, name: string): string {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const mention = new RegExp(
    `^.*?\\b(?:call|use|using|run|invoke|try|with)\\s+(?:the\\s+)?(?:tool\\s+)?["'\`]?${escaped}["'\`]?(?:\\s+(?:tool|function))?\\s*(?=\\S)`,
    "is",
  );
  const rest = text.replace(mention, "").trim();
  return rest === "" ? text : rest.replace(/^(?:with|to|and|on)\s+/i, "");
}
