/**
 * The checks of the legacy personality for a request: the described form, and results in its own words. Unknown fields
 * pass; a client cannot know beforehand which server it talks to.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import {
  invalidType,
  invalidValue,
  missing,
  type Rejection,
  type RequestCheck,
  reject,
} from "../exchange/rejection.ts";
import type { ResponseMemory } from "./response-memory.ts";
import { checkPrevious } from "./strict-request.ts";

export function* checkLegacyRequest(body: JsonObject, memory: ResponseMemory): RequestCheck {
  if (typeof body["model"] !== "string") yield missing("model");
  if (body["stream"] !== true) yield mustBe("stream", "true");
  if (body["store"] !== false) yield mustBe("store", "false");
  yield* checkReasoning(body["reasoning"]);
  yield* checkTools(body);
  yield* checkPrevious(body, memory);
  const { input } = body;
  if (!Array.isArray(input)) return yield invalidType("input", "an array", input);
  if (input.length === 0) return yield missing("input");
  const calls = openCalls(memory.find(String(body["previous_response_id"])) ?? []);
  yield* calls.length > 0 ? checkResults(input, calls) : checkUserItems(input);
}

function mustBe(param: string, value: string): Rejection {
  return reject(`Invalid value for '${param}': expected ${value}.`, {
    param,
    code: "invalid_value",
  });
}

function* checkReasoning(reasoning: Json | undefined): RequestCheck {
  const forms = ['{"effort":"high","summary":"detailed"}', '{"effort":"none"}'];
  const { effort, summary, ...rest } = isJsonObject(reasoning) ? reasoning : {};
  const written = JSON.stringify({ effort, summary, ...rest });
  if (!forms.includes(written)) yield mustBe("reasoning", forms.join(" or "));
}

function* checkTools({ tools, tool_choice: choice }: JsonObject): RequestCheck {
  if (tools === undefined) {
    if (choice !== undefined)
      yield reject("'tool_choice' needs 'tools'.", { param: "tool_choice" });
    return;
  }
  if (!Array.isArray(tools) || tools.length === 0)
    yield invalidType("tools", "a list of tools", tools);
  if (choice === undefined) yield missing("tool_choice");
  for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    const flat = isJsonObject(tool) ? tool : {};
    const definition = isJsonObject(flat["function"]) ? flat["function"] : flat;
    if (typeof definition["name"] !== "string") yield missing(`tools[${index}].name`);
  }
}

/** The unanswered calls of the last answer. */
function openCalls(history: readonly Item[]): string[] {
  const answered = new Set<string>();
  const called: string[] = [];
  for (const item of history) {
    if (item.type === "function_call") called.push(item.call_id);
    if (item.type === "function_call_output") answered.add(item.call_id);
  }
  return called.filter((id) => !answered.has(id));
}

/** After calls the input is their results and nothing else: no history, one result for each call. */
function* checkResults(input: readonly Json[], calls: readonly string[]): RequestCheck {
  const given = new Set<string>();
  for (const [index, item] of input.entries()) {
    const place = `input[${index}]`;
    const { type = "message", tool_call_id: id, content } = isJsonObject(item) ? item : {};
    if (type !== "tool_result") return yield invalidValue(`${place}.type`, type, ["tool_result"]);
    if (typeof id !== "string") return yield missing(`${place}.tool_call_id`);
    if (typeof content !== "string")
      return yield invalidType(`${place}.content`, "a string", content);
    if (!calls.includes(id) || given.has(id)) {
      return yield reject(`No open tool call with id '${id}'.`, { param: `${place}.tool_call_id` });
    }
    given.add(id);
  }
  const absent = calls.find((id) => !given.has(id));
  if (absent !== undefined) {
    yield reject(`No tool result for tool call '${absent}'.`, { param: "input" });
  }
}

function* checkUserItems(input: readonly Json[]): RequestCheck {
  for (const [index, item] of input.entries()) {
    const place = `input[${index}]`;
    const { type = "message", role, content } = isJsonObject(item) ? item : {};
    if (type !== "message") return yield invalidValue(`${place}.type`, type, ["message"]);
    if (role !== "user") return yield invalidValue(`${place}.role`, role, ["user"]);
    if (!Array.isArray(content)) return yield invalidType(`${place}.content`, "an array", content);
    yield* checkParts(content, place);
  }
}

function* checkParts(content: readonly Json[], place: string): RequestCheck {
  const known = ["input_text", "input_image", "input_file"];
  for (const [index, part] of content.entries()) {
    const type = isJsonObject(part) ? part["type"] : part;
    if (!known.includes(String(type)))
      yield invalidValue(`${place}.content[${index}]`, type, known);
  }
}
