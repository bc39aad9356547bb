/**
 * Finds all that a request names outside of itself, before anything runs: its model, the response or conversation
 * that it continues, items it refers to, files and addresses. What does not exist, or belongs to another tenant, is
 * refused here, with the name of the field.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import type { CreateResponse } from "../../protocol/request.ts";
import type { Tool } from "../../protocol/tools.ts";
import { toUnknownPrevious } from "../conversations/conversation-before.ts";
import { readItems } from "../conversations/items.ts";
import { keepRuns } from "../conversations/keep-runs.ts";
import { findKept } from "../kept/kept-response.ts";
import { collectTools } from "../kinds/collect-tools.ts";
import { checkMedia, type MediaReader } from "../media/check-media.ts";
import { findMasks, findMedia } from "../media/media-parts.ts";
import type { WebMediaSettings } from "../media/web-media.ts";
import { TEAM_TOOL } from "../multi-agent/team-kind.ts";
import { createFindItem, type ItemIndexParts } from "../references/item-index.ts";
import { resolveReferences } from "../references/resolve-references.ts";
import type { AskedResponse } from "../request/asked-response.ts";
import { checkChoice, isOffered } from "../request/check-choice.ts";
import { checkAllowed, checkName } from "../request/check-model.ts";
import { checkSize, type SizeLimits } from "../request/check-size.ts";
import { checkConversationId } from "../request/conversation-id.ts";
import { toConversationId } from "../request/echo.ts";
import { checkKinds, type IsBacked } from "../request/hosted-kinds.ts";
import type { FoundForRequest } from "../request/plan-response.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import { sealItems, sealTools } from "../request/seal-tools.ts";
import { checkToolModels } from "../request/tool-models.ts";
import type { Caller } from "../tenant/caller.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

export interface FindParts extends ItemIndexParts, ShelfParts {
  /** The model of a name. Rejects an unknown name. */
  readonly route: (name: string | null | undefined) => FoundForRequest["model"];
  readonly web: WebMediaSettings;
  /** Returns which addresses the vendor of a model reads itself. */
  readonly readsItself: (model: FoundForRequest["model"]) => MediaReader["readsItself"];
  readonly root: string;
  readonly sealKey: Uint8Array;
  readonly size: SizeLimits;
  /** True if the server makes the calls of a kind of client tool itself. */
  readonly isBacked: IsBacked;
  /** The conversation that a request continues. */
  readonly readBefore: (before: ContinuedWish) => Promise<readonly Item[]>;
}

type ContinuedWish = Pick<ResponseWish, "tenant" | "previous_response_id" | "conversation">;

export async function findRequest(
  parts: FindParts,
  { request }: Pick<AskedResponse, "request">,
  caller: Caller,
): Promise<FoundForRequest> {
  const model = findTarget(parts, { request }, caller);
  const { tenant } = caller;
  const { previous_response_id, conversation } = request;
  if (previous_response_id && !(await findKept(parts.shelf, tenant, previous_response_id))) {
    throw toUnknownPrevious(previous_response_id);
  }
  const media = { kept: parts, web: parts.web, readsItself: parts.readsItself(model), ...caller };
  const items = await findItems(parts, request.input ?? [], media);
  const tools = collectTools(items, request.tools ?? []);
  checkKinds(tools, caller, parts.isBacked);
  checkToolModels(tools, model, caller);
  await checkMedia(findMasks(tools), { ...media, readsItself: () => false });
  const held = conversation
    ? await findConversation(parts, tenant, toConversationId(conversation))
    : null;
  await checkChosen(parts, request, { tools, tenant, conversation: held });
  return {
    caller,
    model,
    items,
    instructions: request.instructions ?? null,
    conversation: held,
    root: parts.root,
    tools: sealTools(tools, parts.sealKey),
  };
}

/**
 * Checks a request that names nothing else, and returns its model. Rejects an invalid request before anything is
 * opened.
 */
export function findModel(
  parts: Pick<FindParts, "size" | "route" | "isBacked">,
  { request }: Pick<AskedResponse, "request">,
  caller: Caller,
): FoundForRequest["model"] {
  const model = findTarget(parts, { request }, caller);
  if (request.tool_choice) checkChoice(request.tool_choice, request.tools ?? []);
  return model;
}

/** The model of a request. Also rejects an input that is too large. */
function findTarget(
  { size, route, isBacked }: Pick<FindParts, "size" | "route" | "isBacked">,
  { request }: Pick<AskedResponse, "request">,
  caller: Caller,
): FoundForRequest["model"] {
  checkSize(request, size);
  checkName(request.model);
  const model = route(request.model);
  checkAllowed(request.model ?? model.model, caller);
  checkKinds(request.tools ?? [], caller, isBacked);
  checkToolModels(request.tools ?? [], model, caller);
  return model;
}

interface Offering extends Pick<ContinuedWish, "tenant" | "conversation"> {
  readonly tools: readonly Tool[];
}

/**
 * Tools that earlier requests brought may be chosen too; those are read only if nothing else fits.
 */
async function checkChosen(
  { readBefore }: FindParts,
  { tool_choice, previous_response_id = null, multi_agent }: CreateResponse,
  { tools, tenant, conversation }: Offering,
): Promise<void> {
  if (!tool_choice) return;
  const offered = multi_agent?.enabled ? [...tools, TEAM_TOOL] : tools;
  const isContinuation = previous_response_id !== null || conversation !== null;
  if (!isContinuation || isOffered(tool_choice, offered)) return checkChoice(tool_choice, offered);
  const before = await readBefore({ tenant, previous_response_id, conversation });
  checkChoice(tool_choice, [...collectTools(before, []), ...offered]);
}

/**
 * Finds input items that are sent after the request: checked and limited like those of a request.
 */
export async function findInput(parts: FindParts, input: unknown, caller: Caller): Promise<Item[]> {
  const items = Array.isArray(input) ? input : [];
  checkSize({ input: items }, parts.size);
  // The receiver is not known here, so they may name anything that this server could fetch.
  const media = { ...caller, kept: parts, web: parts.web, readsItself: () => false };
  return await findItems(parts, items, media);
}

async function findItems(
  parts: FindParts,
  input: string | readonly unknown[],
  media: MediaReader,
): Promise<Item[]> {
  const given = toItems(input);
  const trigger = given.findIndex(({ type }) => type === "compaction_trigger");
  if (trigger >= 0 && trigger !== given.length - 1) {
    const message = "A `compaction_trigger` must be the last item of the input.";
    throw new Failure("invalid_request", message, { param: `input[${trigger}]` });
  }
  const items = await resolveReferences(given, media.tenant, createFindItem(parts));
  await checkMedia(findMedia(items), media);
  return sealItems(items, parts.sealKey);
}

/** The last position of a conversation. Answers are added whole, so this is never inside one. */
async function findConversation(
  parts: FindParts,
  tenant: string,
  id: string,
): Promise<FoundForRequest["conversation"]> {
  checkConversationId(id, CONVERSATION);
  try {
    await keepRuns(parts, tenant, id);
    const { position } = await readItems(parts, tenant, id);
    return { id, position };
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code !== "not_found") throw thrown;
    throw new Failure("not_found", failure.message, { param: CONVERSATION, cause: thrown });
  }
}

/** The field of a request; in addresses it has another name. */
const CONVERSATION = "conversation";
