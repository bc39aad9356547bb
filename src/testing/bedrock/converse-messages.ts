/**
 * What Converse refuses in the messages, in the service's words: turns out of order, blank texts,
 * calls without their results in the next turn, and changed reasoning.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { type AwsCheck, invalid, refusedByModel, unfit } from "./aws-rejection.ts";
import type { ReasoningMemory } from "./reasoning-memory.ts";

/** The members of a content block; each block has exactly one. */
const BLOCKS = [
  "text",
  "image",
  "document",
  "video",
  "audio",
  "toolUse",
  "toolResult",
  "guardContent",
  "cachePoint",
  "reasoningContent",
  "citationsContent",
  "searchResult",
];
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const ID_RULE = "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+";
const DOCUMENT_NAME = /^(?!.*\s\s)[a-zA-Z0-9\s()[\]-]{1,200}$/;
const IMAGE_FORMATS = ["png", "jpeg", "gif", "webp"];
const DOCUMENT_FORMATS = ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"];

export function* checkMessages(messages: Json | undefined, memory: ReasoningMemory): AwsCheck {
  const turns = listOf(messages);
  yield* checkRoles(turns);
  for (const [index, turn] of turns.entries()) yield* checkTurn(turn, index, memory);
  for (const [index, turn] of turns.entries()) yield* checkPairs(turn, turns[index - 1], index);
  yield* checkOpenCalls(turns.at(-1));
  yield* checkKeptReasoning(turns, memory);
}

/** The blocks of a turn that have this member. */
export function membersOf(turn: JsonObject | undefined, name: string): JsonObject[] {
  return blocksOf(turn).flatMap((block) => {
    const member = block[name];
    return isJsonObject(member) ? [member] : [];
  });
}

export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function blocksOf(turn: JsonObject | undefined): readonly JsonObject[] {
  return listOf(turn?.["content"]);
}

function* checkRoles(turns: readonly JsonObject[]): AwsCheck {
  for (const [index, { role }] of turns.entries()) {
    if (role === "user" || role === "assistant") continue;
    const set = "Member must satisfy enum value set: [user, assistant]";
    yield unfit(role, `messages.${index + 1}.member.role`, set);
  }
  if (turns[0]?.["role"] !== "user") {
    yield invalid(
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  }
  const isTwice = turns.some(({ role }, index) => role === turns[index - 1]?.["role"]);
  if (!isTwice) return;
  yield invalid(
    "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
  );
}

function* checkTurn(turn: JsonObject, index: number, memory: ReasoningMemory): AwsCheck {
  const blocks = blocksOf(turn);
  if (blocks.length === 0) {
    yield invalid(
      `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`,
    );
  }
  for (const [at, block] of blocks.entries()) {
    yield* checkBlock(block, `messages.${index}.content.${at}`, memory);
  }
  const has = (name: string): boolean => blocks.some((block) => name in block);
  if (has("document") && !has("text")) {
    yield invalid(
      `A document at messages.${index} needs a text beside it. Add a ContentBlock object with a text field and try again.`,
    );
  }
  if (turn["role"] === "assistant" && blocks.length > 0 && !blocks.some(isSaid)) {
    yield refusedByModel(
      `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`,
    );
  }
}

function isSaid(block: JsonObject): boolean {
  return !("reasoningContent" in block) && !("cachePoint" in block);
}

function* checkBlock(block: JsonObject, place: string, memory: ReasoningMemory): AwsCheck {
  const [name = "", more] = Object.keys(block);
  if (!BLOCKS.includes(name) || more !== undefined) {
    return yield invalid(
      `Malformed input request: #/${place}: extraneous key [${more ?? name}] is not permitted, please reformat your input and try again.`,
    );
  }
  const member = block[name];
  if (name === "text") return yield* checkText(member, place);
  if (!isJsonObject(member)) return yield invalid(`The ${name} field at ${place} is empty.`);
  if (name === "toolUse") yield* checkToolUse(member, place);
  if (name === "toolResult") yield* checkToolResult(member, place, memory);
  if (name === "image") yield* checkFormat(member, IMAGE_FORMATS, place);
  if (name === "document") yield* checkDocument(member, place);
  if (name === "reasoningContent") yield* checkReasoning(member, place, memory);
}

function* checkText(text: Json | undefined, place: string): AwsCheck {
  if (typeof text === "string" && text.trim() !== "") return;
  yield invalid(
    `The text field in the ContentBlock object at ${place} is blank. Add text to the text field, and try again.`,
  );
}

function* checkToolUse({ toolUseId, name, input }: JsonObject, place: string): AwsCheck {
  const member = place.replace(/\.(\d+)/g, (_, number) => `.${Number(number) + 1}.member`);
  if (!ID.test(String(toolUseId))) yield unfit(toolUseId, `${member}.toolUse.toolUseId`, ID_RULE);
  if (!ID.test(String(name))) yield unfit(name, `${member}.toolUse.name`, ID_RULE);
  if (isJsonObject(input)) return;
  yield invalid(
    `The format of the value at ${place}.toolUse.input is invalid. Provide a json object for the field and try again.`,
  );
}

function* checkToolResult(
  { content }: JsonObject,
  place: string,
  memory: ReasoningMemory,
): AwsCheck {
  if (!Array.isArray(content))
    yield invalid(`The content field at ${place}.toolResult is missing.`);
  for (const [at, block] of listOf(content).entries()) {
    if ("json" in block) continue;
    if ("audio" in block) {
      yield invalid(`The audio field at ${place}.toolResult.content.${at} is not supported.`);
    }
    yield* checkBlock(block, `${place}.toolResult.content.${at}`, memory);
  }
}

function* checkFormat(media: JsonObject, known: readonly string[], place: string): AwsCheck {
  const { format, source } = media;
  if (!known.includes(String(format))) {
    yield unfit(
      format,
      `${place}.format`,
      `Member must satisfy enum value set: [${known.join(", ")}]`,
    );
  }
  const bytes = isJsonObject(source) ? source["bytes"] : undefined;
  const isS3 = isJsonObject(source) && isJsonObject(source["s3Location"]);
  const isBase64 = typeof bytes === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(bytes);
  if (!isS3 && !isBase64) yield invalid(`The source at ${place} is neither base64 nor in S3.`);
}

function* checkDocument(document: JsonObject, place: string): AwsCheck {
  yield* checkFormat(document, DOCUMENT_FORMATS, place);
  if (DOCUMENT_NAME.test(String(document["name"]))) return;
  yield invalid(
    "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
  );
}

function* checkReasoning(
  { reasoningText, redactedContent }: JsonObject,
  place: string,
  memory: ReasoningMemory,
): AwsCheck {
  if (redactedContent !== undefined || !memory.isSigning) return;
  const { text, signature } = isJsonObject(reasoningText) ? reasoningText : {};
  if (typeof signature !== "string") {
    yield refusedByModel(`${place}.thinking.signature: Field required`);
  } else if (!memory.isSigned(String(text), signature)) {
    yield refusedByModel(`${place}: Invalid \`signature\` in \`thinking\` block`);
  }
}

/** Results must be those of the turn before: all of them, and no others. */
function* checkPairs(turn: JsonObject, before: JsonObject | undefined, index: number): AwsCheck {
  const called = idsOf(before, "toolUse");
  const answered = idsOf(turn, "toolResult");
  const place = `messages.${index}.content`;
  if (answered.length > called.length) {
    yield invalid(
      `The number of toolResult blocks at ${place} exceeds the number of toolUse blocks of previous turn.`,
    );
  }
  const missing = called.filter((id) => !answered.includes(id));
  if (missing.length === 0) return;
  yield invalid(
    `Expected toolResult blocks at ${place} for the following Ids: ${missing.join(", ")}`,
  );
}

/** Without calls that the service has answered itself, in the same turn. */
function idsOf(turn: JsonObject | undefined, name: "toolUse" | "toolResult"): string[] {
  const own = membersOf(turn, "toolUse").filter(({ type }) => type === "server_tool_use");
  const answered = new Set(own.map(({ toolUseId }) => String(toolUseId)));
  const ids = membersOf(turn, name).map(({ toolUseId }) => String(toolUseId));
  return ids.filter((id) => !answered.has(id));
}

function* checkOpenCalls(last: JsonObject | undefined): AwsCheck {
  const open = idsOf(last, "toolUse");
  if (open.length === 0) return;
  yield refusedByModel(
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}.`,
  );
}

/** A turn with results must contain the reasoning that led to its calls. */
function* checkKeptReasoning(turns: readonly JsonObject[], memory: ReasoningMemory): AwsCheck {
  const asked = turns.findLast(({ role }) => role === "assistant");
  for (const id of idsOf(asked, "toolUse")) {
    const signature = memory.signatureBefore(id);
    const kept = membersOf(asked, "reasoningContent").some(
      ({ reasoningText }) =>
        isJsonObject(reasoningText) && reasoningText["signature"] === signature,
    );
    if (signature === undefined || kept) continue;
    yield refusedByModel(
      "messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    );
  }
}
