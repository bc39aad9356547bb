/**
 * What the Messages API refuses in a conversation: the order of its roles, calls without results
 * and results without calls, and thoughts that did not come back with the calls they led to.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { checkBlock } from "./messages-blocks.ts";
import { blocksOf, isThought, objectOf, typed } from "./messages-json.ts";
import { extraInput, type MessagesCheck, refuse, required } from "./messages-rejection.ts";
import type { ThoughtMemory } from "./thinking-seal.ts";

export function* checkTurns(body: JsonObject, memory: ThoughtMemory): MessagesCheck {
  const { messages } = body as { messages?: Json };
  if (messages === undefined) return yield required("messages");
  if (!Array.isArray(messages) || messages.length === 0) {
    return yield refuse("messages: at least one message is required");
  }
  for (const [index, message] of messages.entries()) yield* checkMessage(message, index);
  const turns = messages.filter(isJsonObject);
  yield* checkRoles(turns);
  yield* checkCalls(turns);
  yield* checkServerCalls(turns);
  yield* checkThoughts(turns, objectOf(body["thinking"]), memory);
}

function* checkMessage(message: Json, index: number): MessagesCheck {
  const place = `messages.${index}`;
  if (!isJsonObject(message)) return yield refuse(`${place}: Input should be a valid dictionary`);
  const { role, content, ...rest } = message as { role?: Json; content?: Json };
  for (const name of Object.keys(rest)) yield extraInput(`${place}.${name}`);
  if (role === "system") {
    yield refuse(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    );
  } else if (role !== "user" && role !== "assistant") {
    yield refuse(`${place}.role: Input should be 'user' or 'assistant'`);
  }
  if (content === undefined) return yield required(`${place}.content`);
  const blocks = typeof content === "string" ? blocksOf(message) : content;
  if (!Array.isArray(blocks) || blocks.length === 0) {
    return yield refuse(`${place}: all messages must have non-empty content`);
  }
  for (const [at, block] of blocks.entries()) yield* checkBlock(block, `${place}.content.${at}`);
}

function* checkRoles(turns: readonly JsonObject[]): MessagesCheck {
  if (turns[0]?.["role"] !== "user") {
    yield refuse('messages: first message must use the "user" role');
  }
  for (const [index, { role }] of turns.entries()) {
    if (index === 0 || role !== turns[index - 1]?.["role"]) continue;
    yield refuse(
      `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`,
    );
  }
}

/** The results of a turn's calls are the first blocks of the next. */
function* checkCalls(turns: readonly JsonObject[]): MessagesCheck {
  const seen = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const called = idsOf(typed(blocksOf(turn), "tool_use"), "id");
    if (called.some((id) => seen.has(id))) {
      yield refuse("messages: `tool_use` ids must be unique");
    }
    for (const id of called) seen.add(id);
    yield* checkResults(turns, index);
    const answers = leadingResults(turns[index + 1]);
    const open = called.filter((id) => !answers.includes(id));
    if (open.length === 0) continue;
    yield refuse(
      `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    );
  }
}

function* checkResults(turns: readonly JsonObject[], index: number): MessagesCheck {
  const called = idsOf(typed(blocksOf(turns[index - 1]), "tool_use"), "id");
  for (const [at, block] of blocksOf(turns[index]).entries()) {
    if (block["type"] !== "tool_result" || called.includes(String(block["tool_use_id"]))) continue;
    yield refuse(
      `messages.${index}.content.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block["tool_use_id"]}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
    );
  }
}

function leadingResults(turn: JsonObject | undefined): string[] {
  const blocks = blocksOf(turn);
  const end = blocks.findIndex(({ type }) => type !== "tool_result");
  return idsOf(end === -1 ? blocks : blocks.slice(0, end), "tool_use_id");
}

function* checkServerCalls(turns: readonly JsonObject[]): MessagesCheck {
  const called = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    for (const [at, block] of blocksOf(turn).entries()) {
      const type = String(block["type"]);
      if (type === "server_tool_use" || type === "mcp_tool_use") called.add(String(block["id"]));
      const isResult = type.endsWith("_tool_result");
      if (!isResult || called.has(String(block["tool_use_id"]))) continue;
      yield refuse(
        `messages.${index}.content.${at}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${block["tool_use_id"]}. Each \`${type}\` block must have a corresponding \`server_tool_use\` block before it.`,
      );
    }
  }
}

/** Checks the turn whose calls are being answered. */
function* checkThoughts(
  turns: readonly JsonObject[],
  { type }: JsonObject,
  memory: ThoughtMemory,
): MessagesCheck {
  if (type === "disabled" || leadingResults(turns.at(-1)).length === 0) return;
  const blocks = blocksOf(turns.at(-2));
  const place = `messages.${turns.length - 2}.content.0`;
  const [first] = blocks;
  if (type === "enabled" && first && !isThought(first)) {
    yield refuse(
      `${place}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first["type"]}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
    );
  }
  const given = blocks.filter(isThought).map(({ signature, data }) => signature ?? data);
  for (const id of idsOf(typed(blocks, "tool_use"), "id")) {
    const issued = memory.thoughtsOf(id);
    if (!issued || JSON.stringify(issued) === JSON.stringify(given)) continue;
    yield refuse(
      `${place}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
    );
  }
}

function idsOf(blocks: readonly JsonObject[], field: "id" | "tool_use_id"): string[] {
  return blocks.map((block) => String(block[field]));
}
