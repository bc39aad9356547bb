/**
 * Makes a task's model usable: the vendor's row, the key from the environment, the wire, and what the table knows of
 * the model. Code that only one kind of model needs is imported for that kind alone.
 */

import { estimateInput } from "../agent/call-estimate.ts";
import { Failure } from "../base/failure.ts";
import { countJsonChars } from "../base/json-size.ts";
import type { ContentPart } from "../protocol/content.ts";
import type { Item } from "../protocol/items.ts";
import { joinOptions } from "../protocol/own-options.ts";
import { textOfPart } from "../protocol/part-text.ts";
import { toFileText } from "../providers/file-content.ts";
import type { Model } from "../providers/models/facts.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../providers/models/model-ref.ts";
import { costOf, dropRefused, findModel } from "../providers/models/models.ts";
import type { ModelRequest, Provider, ReasoningOptions } from "../providers/provider.ts";
import { CATALOG } from "../providers/vendors/catalog.ts";
import { createNativeModel } from "../providers/vendors/native-model.ts";
import type { Quirks } from "../providers/wire.ts";
import { type OpenedModel, openHttpProvider } from "./open-provider.ts";
import type { ModelParts, ModelWish } from "./open-sign.ts";

/** Rejects with what is missing (`key_missing`) or wrong (`invalid_request`); sends nothing. */
export async function openModel(wish: ModelWish, parts: ModelParts): Promise<OpenedModel> {
  if (wish.deployments) {
    const { openDeployments } = await import("./open-deployments.ts");
    return await openDeployments(wish.deployments, parts, (one, alone) =>
      openModel({ ...one, think: wish.think, effort: wish.effort }, alone),
    );
  }
  const { catalog = CATALOG } = parts;
  const { vendor, model: name } = parseModelRef(
    wish.model,
    wish.url ? "custom" : undefined,
    catalog,
  );
  const reasoning = reasoningFor(wish);
  if (vendor === EMBEDDED) {
    const { createEmbeddedProvider } = await import("../providers/embedded/provider.ts");
    const provider = createEmbeddedProvider({ isFallback: wish.fell_back });
    return { provider, contextTokens: undefined, costOf: () => 0, reasoning, checkInput() {} };
  }
  if (vendor === GGUF) {
    const provider = await openGgufProvider(name, parts);
    return { provider, contextTokens: undefined, costOf: () => 0, reasoning, checkInput() {} };
  }
  const { local, own, like, fields, wire, quirks } = catalog.of(vendor);
  const model = findModel(vendor, name, parts.overrides, like);
  // A local server costs nothing; of a server at an address from the user the price is not known.
  const isFree = local && !own;
  const options = joinOptions(joinOptions(fields?.options, model.options), parts.options);
  return {
    provider: await openHttpProvider(vendor, wish, {
      ...parts,
      model: name,
      own: { options, headers: { ...fields?.headers, ...model.headers } },
      prepare: (request) => dropRefused(model, fitLength(model, request)),
    }),
    own: options,
    native: createNativeModel(like ?? vendor, wish.provider ?? wire, name),
    contextTokens: model.contextTokens,
    costOf: (usage) => (isFree ? 0 : costOf(model, usage)),
    tellsCost: quirks.tellsCost,
    // A server that we know nothing of is not asked for more than the oldest form of the API has.
    checkInput: (items) => checkInput(model, items),
    reasoning: {
      ...reasoningFor(wish, hearsNone(wish.provider ?? wire, quirks)),
      // It is not known whether a local server seals its reasoning.
      sealed: local ? undefined : model.reasoning,
    },
  };
}

/** A program's own provider: nothing is known of its models, neither prices nor what they take. */
export function openOwnModel(provider: Provider, wish: ThinkingWish): OpenedModel {
  const nothing = { contextTokens: undefined, costOf: () => undefined, checkInput() {} };
  return { provider, reasoning: reasoningFor(wish), ...nothing };
}

/**
 * Leaves out a length that the budget pays for but the model cannot answer: servers refuse a `max_tokens` that is
 * larger than the model's window, and do not lower it.
 */
function fitLength(
  { contextTokens = Number.POSITIVE_INFINITY, maxOutputTokens = contextTokens }: Model,
  request: ModelRequest,
): ModelRequest {
  const { max_output_tokens: length, is_length_of_budget = false } = request;
  if (!is_length_of_budget || length === undefined) return request;
  const isShort = length <= maxOutputTokens && estimateInput(request) + length <= contextTokens;
  return isShort ? request : { ...request, max_output_tokens: undefined };
}

/** The file is opened when the run begins: a check must not load gigabytes. */
async function openGgufProvider(path: string, { gguf }: ModelParts): Promise<Provider> {
  if (!gguf) throw new Failure("internal", "There is nothing here that runs GGUF files.");
  const { createGgufProvider } = await import("../providers/gguf/provider.ts");
  return createGgufProvider({ path, library: await gguf() });
}

function checkInput(model: Model, items: readonly Item[]): void {
  const parts = items.flatMap((item) =>
    item.type === "message" && typeof item.content !== "string" ? item.content : [],
  );
  const has = (type: string): boolean => parts.some((part) => part.type === type);
  const who = `${model.vendor}/${model.name}`;
  const refused =
    (has("input_image") && !model.vision && "images") ||
    (parts.some(isBinaryFile) && !model.pdf && "PDFs");
  if (refused) {
    const message = `${who} takes no ${refused}. Choose another model, or leave them out.`;
    throw new Failure("invalid_request", message, { param: "input" });
  }
  checkLength(who, model.contextTokens, items);
}

/** A file of plain text is text for every model. */
function isBinaryFile(part: ContentPart): boolean {
  return part.type === "input_file" && toFileText(part) === undefined;
}

/** The fewest characters that a tokenizer makes into a token of ordinary text, times a margin. */
const CHARS_PER_TOKEN = 6;

/** Refuses only what cannot fit; for the rest the vendor decides. */
function checkLength(who: string, window: number | undefined, items: readonly Item[]): void {
  const chars = items.reduce((sum, item) => sum + textChars(item), 0);
  const tokens = Math.floor(chars / CHARS_PER_TOKEN);
  if (window === undefined || tokens <= window) return;
  const message = `The input is at least ${tokens} tokens long; ${who} takes ${window}. Give a part of it.`;
  throw new Failure("context_exceeded", message, { param: "input" });
}

function textChars(item: Item): number {
  if (item.type === "function_call_output") return countJsonChars(item.output);
  if (item.type !== "message") return 0;
  if (typeof item.content === "string") return item.content.length;
  const texts = item.content.map((part) => textOfPart(part)?.length ?? 0);
  return texts.reduce((sum, length) => sum + length, 0);
}

type ThinkingWish = Pick<ModelWish, "think" | "effort">;

function reasoningFor({ think, effort = "high" }: ThinkingWish, isHeard = true): ReasoningOptions {
  if (think) return { effort, summary: "detailed" };
  return { effort: isHeard ? "none" : undefined, summary: undefined };
}

/** True if the wire can tell a model not to think. Otherwise no notice is written: nothing was asked for. */
function hearsNone(wire: string, { effortNone, thinkingOff }: Quirks): boolean {
  if (effortNone !== undefined || thinkingOff !== undefined) return effortNone !== false;
  return wire !== "openai-chat";
}
