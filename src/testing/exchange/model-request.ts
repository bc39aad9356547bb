/** Reads fields that both APIs have into a `ModelRequest`. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { ModelRequest, OutputFormat, ReasoningOptions } from "../../providers/provider.ts";

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const SUMMARIES = ["auto", "concise", "detailed"] as const;

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function toEffort(value: Json | undefined): ReasoningOptions["effort"] {
  return EFFORTS.find((effort) => effort === value);
}

export function toSummary(value: Json | undefined): ReasoningOptions["summary"] {
  return SUMMARIES.find((summary) => summary === value);
}

/** Token probabilities are the only option that changes what a server sends. */
export function toOptions(top_logprobs: number | undefined): Pick<ModelRequest, "options"> {
  return top_logprobs === undefined ? {} : { options: { top_logprobs } };
}

/** From the object with name and schema: `json_schema` in chat, `text.format` in responses. */
export function toSchemaFormat(named: JsonObject): OutputFormat {
  const schema = isJsonObject(named["schema"]) ? named["schema"] : {};
  return {
    type: "json_schema",
    name: String(named["name"]),
    schema,
    strict: named["strict"] === true,
  };
}
