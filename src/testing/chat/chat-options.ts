/** The refusals of chat completions for parameters that not every model or server has. */

import type { Json, JsonObject } from "../../base/json.ts";
import {
  invalidType,
  invalidValue,
  type RequestCheck,
  reject,
  unsupportedParameter,
} from "../exchange/rejection.ts";
import { checkNumber, checkService, isReasoningModel } from "../exchange/request-checks.ts";

const MAX_STOPS = 4;

export function* checkOptions(body: JsonObject): RequestCheck {
  yield* checkNumber(body, "frequency_penalty", { min: -2, max: 2, kind: "decimal" });
  yield* checkNumber(body, "presence_penalty", { min: -2, max: 2, kind: "decimal" });
  yield* checkStop(body["stop"]);
  yield* checkService(body);
  const { verbosity, logprobs, top_logprobs, metadata, store } = body;
  if (verbosity !== undefined && !["low", "medium", "high"].includes(String(verbosity))) {
    yield invalidValue("verbosity", verbosity, ["low", "medium", "high"]);
  }
  if (top_logprobs !== undefined && logprobs !== true) {
    const message = "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.";
    yield reject(message, { param: "top_logprobs" });
  }
  if (metadata !== undefined && store !== true) {
    const message = "The 'metadata' parameter is only allowed when 'store' is enabled.";
    yield reject(message, { param: "metadata" });
  }
  if (!isReasoningModel(String(body["model"]))) return;
  for (const param of REFUSED_WHILE_THINKING) {
    if (body[param] !== undefined) yield unsupportedParameter(param);
  }
}

const REFUSED_WHILE_THINKING = [
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "logprobs",
  "top_logprobs",
];

function* checkStop(stop: Json | undefined): RequestCheck {
  if (stop === undefined || stop === null || typeof stop === "string") return;
  if (!Array.isArray(stop) || stop.some((text) => typeof text !== "string")) {
    return yield invalidType("stop", "a string or an array of strings", stop);
  }
  if (stop.length <= MAX_STOPS) return;
  const message = `Invalid 'stop': array too long. Expected an array with maximum length ${MAX_STOPS}, but got an array with length ${stop.length} instead.`;
  yield reject(message, { param: "stop", code: "array_above_max_length" });
}
