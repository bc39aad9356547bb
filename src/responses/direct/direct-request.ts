/**
 * Requests that need nothing but a model: nothing to look up, no calls for the server to make, no budget
 * to keep. Told by the request alone and without waiting: nine of ten requests to a
 * gateway are such, and the way of the others costs three times as much (bench/gateway.ts). Pure.
 */

import { LIMIT_KINDS, type LimitKind, type Limits } from "../../agent/limits.ts";
import { fromInput, type Item } from "../../protocol/items.ts";
import type { Native } from "../../protocol/native.ts";
import type { CreateResponse } from "../../protocol/request.ts";
import type { ToolChoice } from "../../protocol/tools.ts";
import { type ModelRequest, TEXT_FORMAT } from "../../providers/provider.ts";
import { isPlainItem } from "../bridge/plain-items.ts";
import { asksForSeal } from "../fold/show-item.ts";
import { findMedia, type MediaPart, urlOf } from "../media/media-parts.ts";
import type { AskedResponse } from "../request/asked-response.ts";
import { pickOptions, toReasoning } from "../request/plan-response.ts";

/** The items of a request that is one; undefined for any other. Its tools are the model's to judge. */
export function findDirectItems(
  { request }: AskedResponse,
  limits: Limits,
): readonly Item[] | undefined {
  if (!isAlone(request) || !KINDS.every((kind) => limits[kind] === null)) return undefined;
  const items = fromInput(request.input ?? []);
  return items.every(isPlain) && items.every(isWhole) ? items : undefined;
}

const KINDS = Object.keys(LIMIT_KINDS) as LimitKind[];

/** True if the request has the whole conversation, and wants a plain answer. */
function isAlone(request: CreateResponse): boolean {
  const { text, truncation, multi_agent } = request;
  if (request.previous_response_id || request.conversation || request.prompt) return false;
  if (multi_agent?.enabled || request.context_management || truncation === "auto") return false;
  if ((request.max_tool_calls ?? null) !== null) return false;
  return !text?.format || text.format.type === "text";
}

/** Items of several agents must be sorted out first, so they are not plain. */
function isPlain(item: Item): boolean {
  return isPlainItem(item.type) && !("agent" in item && item.agent);
}

/** True if the item can be sent as it is: nothing has to be read or fetched for it. */
function isWhole(item: Item): boolean {
  if ("content" in item && typeof item.content === "string") return true;
  return findMedia([item]).every(({ part }) => isWholePart(part));
}

function isWholePart(part: MediaPart): boolean {
  return part.type !== "input_file" && !part.file_id && urlOf(part) === undefined;
}

/** True if the server has nothing to do for any of the tools, and nothing to report about them. */
export function areModelTools({ tools, include }: CreateResponse, native: Native): boolean {
  if (!tools) return true;
  const asked = { tools, include: include ?? [] };
  return tools.every(
    (tool) =>
      tool.type === "function" || (native.runs(tool, asked) && native.lost(tool).length === 0),
  );
}

interface Known {
  /** As the record names it: `openai/gpt-5`. */
  readonly model: string;
  readonly items: readonly Item[];
  readonly sealed: boolean | undefined;
}

export function toDirectRequest(
  { request, stream, extras }: AskedResponse,
  { model, items, sealed }: Known,
): ModelRequest {
  const reasoning = toReasoning(request);
  return {
    model: model.slice(model.indexOf("/") + 1),
    instructions: request.instructions ?? undefined,
    items,
    tools: request.tools ?? [],
    tool_choice: (request.tool_choice ?? "auto") as ToolChoice,
    parallel_tool_calls: request.parallel_tool_calls ?? undefined,
    temperature: request.temperature ?? undefined,
    top_p: request.top_p ?? undefined,
    max_output_tokens: request.max_output_tokens ?? undefined,
    reasoning: { sealed: sealed ?? asksForSeal(request.include), ...reasoning },
    format: TEXT_FORMAT,
    previous: undefined,
    options: pickOptions(request),
    own: request.options ?? undefined,
    extras,
    whole: !stream,
  };
}
