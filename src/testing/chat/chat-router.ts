/** The fields that OpenRouter accepts besides those of chat completions, and what it refuses in them. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { invalidValue, type RequestCheck, reject } from "../exchange/rejection.ts";
import { checkChatRequest } from "./chat-request.ts";

const FIELDS = [
  ...["provider", "models", "route", "transforms", "plugins", "reasoning", "cache_control"],
  ...["top_k", "min_p", "top_a", "repetition_penalty", "usage"],
];
const EFFORTS = ["max", "xhigh", "high", "medium", "low", "minimal", "none"];
const MAX_MARKS = 4;

export function* checkRouted(body: JsonObject): RequestCheck {
  yield* checkChatRequest(body, FIELDS);
  const { reasoning, reasoning_effort: effort } = body;
  if (reasoning !== undefined && effort !== undefined) {
    yield reject('Only one of "reasoning" and "reasoning_effort" may be provided');
  }
  const asked = isJsonObject(reasoning) ? reasoning["effort"] : undefined;
  if (asked !== undefined && !EFFORTS.includes(String(asked))) {
    yield invalidValue("reasoning.effort", asked, EFFORTS);
  }
  yield* checkMarks(body);
}

/** The model's own server refuses further marks, and words that it does not know. */
function* checkMarks(body: JsonObject): RequestCheck {
  const messages = Array.isArray(body["messages"]) ? body["messages"].filter(isJsonObject) : [];
  const parts = messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as readonly Json[]).filter(isJsonObject) : [],
  );
  const marks = [body, ...parts].flatMap(({ cache_control: mark }) => (mark ? [mark] : []));
  if (marks.length > MAX_MARKS) {
    const found = `Found ${marks.length}.`;
    yield reject(`A maximum of ${MAX_MARKS} blocks with cache_control may be provided. ${found}`);
  }
  for (const mark of marks.filter(isJsonObject)) {
    const ttl = mark["ttl"] ?? "5m";
    if (mark["type"] !== "ephemeral")
      yield invalidValue("cache_control.type", mark["type"], ["ephemeral"]);
    if (ttl !== "5m" && ttl !== "1h") yield invalidValue("cache_control.ttl", ttl, ["5m", "1h"]);
  }
}
