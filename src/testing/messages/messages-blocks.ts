/** What the Messages API refuses in a single content block: fields, empty texts, kinds of images. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { listOf, objectOf } from "./messages-json.ts";
import { extraInput, type MessagesCheck, refuse, required } from "./messages-rejection.ts";
import { signThinking } from "./thinking-seal.ts";

/** The fields of each kind that a client may write; any other kind is a server's own. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["type", "text", "cache_control", "citations"],
  image: ["type", "source", "cache_control"],
  document: ["type", "source", "title", "context", "citations", "cache_control"],
  thinking: ["type", "thinking", "signature"],
  redacted_thinking: ["type", "data"],
  tool_use: ["type", "id", "name", "input", "cache_control", "caller", "toolset_name"],
  tool_result: ["type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"],
};

export function* checkBlock(block: Json, place: string): MessagesCheck {
  if (!isJsonObject(block)) return yield refuse(`${place}: Input should be a valid dictionary`);
  const type = String(block["type"]);
  for (const name of Object.keys(block)) {
    if (FIELDS[type]?.includes(name) === false) yield extraInput(`${place}.${type}.${name}`);
  }
  yield* CHECKS[type]?.(block, `${place}.${type}`) ?? [];
}

type BlockCheck = (block: JsonObject, place: string) => MessagesCheck;

const CHECKS: Readonly<Record<string, BlockCheck | undefined>> = {
  text: checkText,
  image: checkImage,
  document: checkDocument,
  thinking: checkThinking,
  tool_use: checkToolUse,
  tool_result: checkToolResult,
};

function* checkText({ text, citations }: JsonObject, place: string): MessagesCheck {
  if (typeof text !== "string") return yield required(`${place}.text`);
  if (text === "") yield refuse("messages: text content blocks must be non-empty");
  else if (text.trim() === "") {
    yield refuse("messages: text content blocks must contain non-whitespace text");
  }
  for (const [index, citation] of listOf(citations).entries()) {
    if ("file_id" in citation) yield extraInput(`${place}.citations.${index}.file_id`);
  }
}

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

function* checkImage(block: JsonObject, place: string): MessagesCheck {
  const source = objectOf(block["source"]);
  if (source["type"] === "base64" && !IMAGE_TYPES.includes(String(source["media_type"]))) {
    const kinds = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'";
    yield refuse(`${place}.source.base64.media_type: Input should be ${kinds}`);
  }
  yield* checkSource(source, `${place}.source`);
}

function* checkDocument(block: JsonObject, place: string): MessagesCheck {
  const source = objectOf(block["source"]);
  if (source["type"] === "base64" && source["media_type"] !== "application/pdf") {
    yield refuse(`${place}.source.base64.media_type: Input should be 'application/pdf'`);
  }
  yield* checkSource(source, `${place}.source`);
}

const SOURCES: Readonly<Record<string, string>> = {
  base64: "data",
  text: "data",
  url: "url",
  file: "file_id",
  content: "content",
};

function* checkSource(source: JsonObject, place: string): MessagesCheck {
  const field = SOURCES[String(source["type"])];
  if (field === undefined) return yield refuse(`${place}: Input tag 'type' is not known`);
  if (!source[field]) yield required(`${place}.${source["type"]}.${field}`);
}

function* checkThinking({ thinking, signature }: JsonObject, place: string): MessagesCheck {
  if (typeof signature !== "string") return yield required(`${place}.signature`);
  if (signature !== signThinking(String(thinking))) {
    yield refuse(
      `${place.replace(/\.thinking$/, "")}: Invalid \`signature\` in \`thinking\` block`,
    );
  }
}

function* checkToolUse({ id, name, input }: JsonObject, place: string): MessagesCheck {
  if (typeof id !== "string" || !/^[a-zA-Z0-9_-]+$/.test(id)) {
    yield refuse(`${place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  if (typeof name !== "string") yield required(`${place}.name`);
  if (!isJsonObject(input)) yield refuse(`${place}.input: Input should be a valid dictionary`);
}

function* checkToolResult({ tool_use_id, content }: JsonObject, place: string): MessagesCheck {
  if (typeof tool_use_id !== "string") yield required(`${place}.tool_use_id`);
  if (!Array.isArray(content)) return;
  for (const [index, block] of content.entries()) {
    yield* checkBlock(block, `${place}.content.${index}`);
  }
}
