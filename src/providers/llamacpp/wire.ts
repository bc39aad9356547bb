/**
 * The wire of llama-server's chat API: chat completions with two differences. Thinking is switched through
 * the model's template, and if the server cannot make a grammar of a schema, the instructions describe it.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { omittedMarks } from "../cache-marks.ts";
import { encodeRequest } from "../chat/encode.ts";
import { joinThoughts } from "../chat/join-thoughts.ts";
import { chatWire } from "../chat/wire.ts";
import type { OptionName } from "../known-options.ts";
import type { ModelRequest } from "../provider.ts";
import { type Quirks, toBody, type Wire } from "../wire.ts";

const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "top_logprobs",
]);

export const llamacppWire: Wire = {
  ...chatWire,
  name: "llamacpp",
  options: OPTIONS,
  describesFormat: false,
  omits,
  encode,
  recover: (request, failure) => relaxGrammar(request, failure) ?? joinThoughts(request, failure),
};

function encode(request: ModelRequest, quirks: Quirks): JsonObject {
  const { format, reasoning, tools } = request;
  // `relaxGrammar` removes `strict`. Any JSON still has a grammar, but not beside tools, whose calls have a
  // grammar of their own.
  const isWish = format.type === "json_schema" && !format.strict;
  const refuses = [...(quirks.refuses ?? []), "reasoning_effort"];
  if (isWish && tools.length > 0) refuses.push("response_format");
  const body = encodeRequest(request, {
    ...quirks,
    ...(isWish ? { jsonSchema: false } : {}),
    refuses,
  });
  refuseFiles(body);
  const kwargs = { chat_template_kwargs: encodeEffort(reasoning.effort) };
  return toBody({ ...body, ...encodeLogprobs(request), ...kwargs }, quirks);
}

/** The server reads text, images and sound. Other files must be sent as text. */
function refuseFiles({ messages }: JsonObject): void {
  for (const { content } of messages as readonly JsonObject[]) {
    if (!Array.isArray(content) || !content.some(isFile)) continue;
    const reason =
      "llama-server takes text files, images and sound, but not PDF files. Send the file's text.";
    throw new Failure("invalid_request", reason, { param: "input" });
  }
}

function isFile(part: Json): boolean {
  return isJsonObject(part) && part["type"] === "file";
}

/** The server reports no probabilities if the request asks only for the token's own. */
function encodeLogprobs(request: ModelRequest): JsonObject {
  const asked = request.options?.top_logprobs;
  if (asked === undefined) return {};
  const isTold = !isMute(request);
  return {
    logprobs: isTold ? true : undefined,
    top_logprobs: isTold ? Math.max(1, asked) : undefined,
  };
}

function omits(request: ModelRequest): string[] {
  const isUntold = request.options?.top_logprobs !== undefined && isMute(request);
  return [...(isUntold ? ["top_logprobs"] : []), ...omittedMarks(request)];
}

/** The server refuses to report probabilities in a stream that may have calls. */
function isMute({ tools, whole }: ModelRequest): boolean {
  return tools.length > 0 && !whole;
}

/** Variables that templates of several models share: one switches thinking, the other sets its depth. */
function encodeEffort(effort: ModelRequest["reasoning"]["effort"]): JsonObject | undefined {
  if (effort === undefined) return undefined;
  if (effort === "none") return { enable_thinking: false };
  const level =
    effort === "minimal" ? "low" : effort === "xhigh" || effort === "max" ? "high" : effort;
  return { enable_thinking: true, reasoning_effort: level };
}

/** The server reports it in words alone, which differ from version to version. */
function relaxGrammar(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  const { format } = request;
  if (format.type !== "json_schema" || !format.strict) return undefined;
  if (failure.code !== "provider_rejected" && failure.code !== "provider_failed") return undefined;
  if (!/schema|grammar|response_format/i.test(failure.message)) return undefined;
  return { ...request, format: { ...format, strict: false } };
}
