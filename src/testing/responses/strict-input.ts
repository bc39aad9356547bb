/**
 * The items of `input` that the real Responses API refuses: items of unknown kinds, calls and outputs that do
 * not match (including the stored conversation), and reasoning that is incomplete or not its own.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { ITEM_TYPES } from "../../protocol/items.ts";
import {
  invalidType,
  invalidValue,
  missing,
  type Rejection,
  type RequestCheck,
  reject,
} from "../exchange/rejection.ts";
import { checkFields } from "../exchange/request-checks.ts";
import { isSeal } from "./reasoning-seal.ts";
import type { ResponseMemory } from "./response-memory.ts";

const ROLES = ["assistant", "system", "developer", "user"];
const INPUT_PARTS = ["input_text", "input_image", "input_file", "input_audio"];
const OUTPUT_PARTS = ["output_text", "refusal"];

interface ItemRule {
  readonly fields: readonly string[];
  readonly required: readonly string[];
  /** The prefix of the item's own id. */
  readonly prefix: string;
}

/** The kinds that a client writes itself; for the others only the type is checked. */
const ITEM_RULES: Readonly<Record<string, ItemRule>> = {
  message: {
    fields: ["type", "role", "content", "id", "status", "phase"],
    required: ["role", "content"],
    prefix: "msg",
  },
  function_call: {
    fields: ["type", "id", "call_id", "name", "arguments", "status", "namespace", "caller"],
    required: ["call_id", "name", "arguments"],
    prefix: "fc",
  },
  function_call_output: {
    fields: ["type", "id", "call_id", "output", "status", "name", "namespace", "caller"],
    required: ["call_id", "output"],
    prefix: "fc",
  },
  reasoning: {
    fields: ["type", "id", "summary", "content", "encrypted_content", "status"],
    required: ["summary"],
    prefix: "rs",
  },
};

export function* checkInput(body: JsonObject, memory: ResponseMemory): RequestCheck {
  const { input, previous_response_id: previous } = body as {
    input?: Json;
    previous_response_id?: Json;
  };
  if (typeof input === "string") return yield* checkPairs([], historyOf(previous, memory));
  if (input === undefined || input === null) {
    if (typeof previous === "string" || body["prompt"] || body["conversation"]) return;
    return yield missing("input");
  }
  if (!Array.isArray(input)) return yield invalidType("input", "a string or an array", input);
  for (const [index, item] of input.entries()) {
    const place = `input[${index}]`;
    if (!isJsonObject(item)) return yield invalidType(place, "an object", item);
    yield* checkItem(item, place);
  }
  const items = input.filter(isJsonObject);
  yield* checkPairs(items, historyOf(previous, memory));
  yield* checkThinking(items, memory);
}

function historyOf(previous: Json | undefined, memory: ResponseMemory): readonly object[] {
  return typeof previous === "string" ? (memory.find(previous) ?? []) : [];
}

function* checkItem(item: JsonObject, place: string): RequestCheck {
  const type = typeOf(item);
  if (typeof type !== "string") return yield missing(`${place}.type`);
  if (!ITEM_TYPES.includes(type)) return yield invalidValue(`${place}.type`, type, ITEM_TYPES);
  const rule = ITEM_RULES[type];
  if (!rule) return;
  for (const name of rule.required) {
    if (item[name] === undefined || item[name] === null) yield missing(`${place}.${name}`);
  }
  yield* checkFields(item, rule.fields, `${place}.`);
  const { id } = item as { id?: Json };
  if (typeof id === "string" && !id.startsWith(rule.prefix)) {
    const message = `Invalid '${place}.id': '${id}'. Expected an ID that begins with '${rule.prefix}'.`;
    yield reject(message, { param: `${place}.id`, code: "invalid_value" });
  }
  if (type === "message") yield* checkMessage(item, place);
  if (type === "function_call" && typeof item["arguments"] !== "string") {
    yield invalidType(`${place}.arguments`, "a string", item["arguments"]);
  }
}

function* checkMessage({ role, content }: JsonObject, place: string): RequestCheck {
  if (!ROLES.includes(String(role))) return yield invalidValue(`${place}.role`, role, ROLES);
  if (typeof content === "string") return;
  if (!Array.isArray(content))
    return yield invalidType(`${place}.content`, "a string or an array", content);
  const known = role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS;
  for (const [index, part] of content.entries()) {
    const type = isJsonObject(part) ? part["type"] : part;
    if (!known.includes(String(type)))
      yield invalidValue(`${place}.content[${index}]`, type, known);
  }
}

/** Every output needs its call before it, every call its output after it. */
function* checkPairs(items: readonly JsonObject[], history: readonly object[]): RequestCheck {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const item of [...history, ...items] as readonly JsonObject[]) {
    const type = String(item["type"]);
    const id = String(item["call_id"]);
    if (type === "function_call" || type === "custom_tool_call") called.add(id);
    if (type !== "function_call_output" && type !== "custom_tool_call_output") continue;
    if (!called.has(id)) {
      const what = type === "function_call_output" ? "function call" : "custom tool call";
      yield reject(`No tool call found for ${what} output with call_id ${id}.`, { param: "input" });
    }
    answered.add(id);
  }
  for (const id of called) {
    if (!answered.has(id)) {
      yield reject(`No tool output found for function call ${id}.`, { param: "input" });
    }
  }
}

function* checkThinking(items: readonly JsonObject[], memory: ResponseMemory): RequestCheck {
  for (const [index, item] of items.entries()) {
    const type = typeOf(item);
    const id = typeof item["id"] === "string" ? item["id"] : undefined;
    if (type === "item_reference" && !memory.findItem(String(id))) yield itemNotFound(id);
    if (type === "reasoning") {
      yield* checkReasoning(item, id, memory);
      yield* checkFollowing(items[index + 1], id);
    }
    const reason = id === undefined ? undefined : memory.reasoningBefore(id);
    if (reason !== undefined && !items.slice(0, index).some((other) => other["id"] === reason)) {
      const message = `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${reason}'.`;
      yield reject(message, { param: "input" });
    }
  }
}

function* checkReasoning(
  item: JsonObject,
  id: string | undefined,
  memory: ResponseMemory,
): RequestCheck {
  const sealed = item["encrypted_content"];
  if (typeof sealed !== "string") {
    if (!memory.findItem(String(id))) yield itemNotFound(id);
  } else if (!isSeal(sealed, id, memory.account)) {
    yield reject(`The encrypted content for item ${id ?? "(no id)"} could not be verified.`, {
      code: "invalid_encrypted_content",
    });
  }
}

/** Reasoning must lead to something the model said or did; alone it is refused. */
function* checkFollowing(next: JsonObject | undefined, id: string | undefined): RequestCheck {
  const type = next ? String(typeOf(next)) : "";
  const isOutput =
    next?.["role"] === "assistant" || /(_call|^reasoning|^item_reference|^program)$/.test(type);
  if (isOutput) return;
  const message = `Item '${id}' of type 'reasoning' was provided without its required following item.`;
  yield reject(message, { param: "input" });
}

function itemNotFound(id: string | undefined): Rejection {
  const hint =
    "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
  return reject(`Item with id '${id}' not found. ${hint}`, { param: "input", status: 404 });
}

/** Messages and references may leave out their type. */
function typeOf(item: JsonObject): Json | undefined {
  if (item["type"] !== undefined && item["type"] !== null) return item["type"];
  if (item["role"] !== undefined) return "message";
  return item["id"] !== undefined ? "item_reference" : undefined;
}
