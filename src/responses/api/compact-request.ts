/**
 * `POST /v1/responses/compact`: compacts a conversation with the same kind of run as any answer, and stores nothing.
 */

import { z } from "zod";
import type { CompactionSeal } from "../../agent/context/compacted-context.ts";
import { isUserMessage } from "../../agent/context/truncation.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import { open } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import type { Usage } from "../../protocol/usage.ts";
import { type ShownItem, toShownItem } from "../conversations/shown-item.ts";
import { idPrefixOf } from "../fold/emitted-item.ts";
import type { Caller } from "../tenant/caller.ts";
import type { ResponsesApi } from "./api.ts";

export interface CompactedResponse {
  readonly id: string;
  readonly object: "response.compaction";
  readonly created_at: number;
  /** The user's own messages, then the `compaction`: the complete input of the next request. */
  readonly output: readonly ShownItem[];
  readonly usage: Usage;
}

export interface CompactParts {
  readonly create: ResponsesApi["create"];
  readonly seal: CompactionSeal;
  readonly signal?: AbortSignal | undefined;
}

/** Parameters that have an effect here; the others are only for answers. */
const KNOWN = [
  "model",
  "instructions",
  "previous_response_id",
  "prompt",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "service_tier",
  "reasoning",
  "user",
  "safety_identifier",
  "options",
];

const NO_MODEL = "`model` is missing: name the model that compacts the conversation.";

export async function compactConversation(
  { create, seal, signal }: CompactParts,
  body: unknown,
  caller: Caller,
): Promise<CompactedResponse> {
  const live = await create(toCreateBody(body), caller);
  const response = await live.response(signal);
  const item = response.output.find(({ type }) => type === "compaction");
  if (response.status !== "completed" || item?.type !== "compaction") throw toFailed(response);
  const kept = seal.open(item.encrypted_content)?.messages ?? [];
  const messages = kept.filter(isUserMessage).map((message) => show(message as Item));
  return {
    id: response.id,
    object: "response.compaction",
    created_at: response.created_at,
    output: [...messages, toShownItem(item as unknown as Item, item.id, undefined)],
    usage: response.usage as Usage,
  };
}

function toCreateBody(body: unknown): JsonObject {
  const given = parseAs(open({ input: z.unknown().optional() }), body, "request") as JsonObject;
  // The server's own default model is not used here: the API requires the name, unlike for an answer.
  if (!given["model"]) throw new Failure("invalid_request", NO_MODEL, { param: "model" });
  const known = Object.entries(given).filter(([name]) => KNOWN.includes(name));
  const { input } = given;
  const isText = typeof input === "string" || Array.isArray(input);
  const items = isText ? toItems(input as string | readonly unknown[]) : [];
  const trigger = { type: "compaction_trigger" };
  return {
    ...Object.fromEntries(known),
    input: [...items.filter(isNoTrigger), trigger] as unknown as JsonObject[],
    store: false,
  };
}

function isNoTrigger({ type }: Item): boolean {
  return type !== "compaction_trigger";
}

function show(message: Item): ShownItem {
  const own = "id" in message && isJsonObject(message) ? String(message["id"] ?? "") : "";
  return toShownItem(message, own || makeId(idPrefixOf(message.type)), undefined);
}

function toFailed({ error }: EmittedResponse): Failure {
  return new Failure("provider_failed", error?.message ?? "The conversation was not compacted.");
}
