/**
 * Everything that a request names outside of itself, found before anything runs: its model, the
 * response or conversation it goes on with, items it refers to, files and addresses. What is not there,
 * or is somebody else's, is refused here, by the name of the field.
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
import { type Asking, checkMedia } from "../media/check-media.ts";
import { findMasks, findMedia } from "../media/media-parts.ts";
import type { WebMediaSettings } from "../media/web-media.ts";
import { TEAM_TOOL } from "../multi-agent/team-kind.ts";
import { createFindItem, type IndexParts } from "../references/item-index.ts";
import { resolveReferences } from "../references/resolve-references.ts";
import { checkChoice, isOffered } from "../request/check-choice.ts";
import { checkAllowed, checkName } from "../request/check-model.ts";
import { checkSize, type SizeLimits } from "../request/check-size.ts";
import { checkConversationId } from "../request/conversation-id.ts";
import { toConversationId } from "../request/echo.ts";
import { checkKinds, type IsBacked } from "../request/hosted-kinds.ts";
import type { AskedResponse, Found } from "../request/plan-response.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import { sealItems, sealTools } from "../request/seal-tools.ts";
import { checkToolModels } from "../request/tool-models.ts";
import type { Caller } from "../tenant/caller.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

export interface FindParts extends IndexParts, ShelfParts {
  /** Rejects a name that is nobody's. */
  readonly route: (name: string | null | undefined) => Found["model"];
  readonly web: WebMediaSettings;
  /** Which addresses the vendor of a model reads itself. */
  readonly readsItself: (model: Found["model"]) => Asking["readsItself"];
  readonly root: string;
  readonly sealKey: Uint8Array;
  readonly size: SizeLimits;
  /** Whether the server makes the calls of a client's kind of tool itself. */
  readonly isBacked: IsBacked;
  /** The conversation that a request goes on with. */
  readonly readBefore: (before: GoesOn) => Promise<readonly Item[]>;
}

type GoesOn = Pick<ResponseWish, "tenant" | "previous_response_id" | "conversation">;

export async function findRequest(
  parts: FindParts,
  { request }: Pick<AskedResponse, "request">,
  caller: Caller,
): Promise<Found> {
  const model = findTarget(parts, { request }, caller);
  const { tenant } = caller;
  const { previous_response_id, conversation } = request;
  if (previous_response_id && !(await findKept(parts.shelf, tenant, previous_response_id))) {
    throw toUnknownPrevious(previous_response_id);
  }
  const media = { ...caller, kept: parts, web: parts.web, readsItself: parts.readsItself(model) };
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

/** The model of a request that is alone; also rejects what is wrong with it, before anything is opened. */
export function findModel(
  parts: Pick<FindParts, "size" | "route" | "isBacked">,
  { request }: Pick<AskedResponse, "request">,
  caller: Caller,
): Found["model"] {
  const model = findTarget(parts, { request }, caller);
  if (request.tool_choice) checkChoice(request.tool_choice, request.tools ?? []);
  return model;
}

/** The model that a request means; also rejects what is too large. */
function findTarget(
  { size, route, isBacked }: Pick<FindParts, "size" | "route" | "isBacked">,
  { request }: Pick<AskedResponse, "request">,
  caller: Caller,
): Found["model"] {
  checkSize(request, size);
  checkName(request.model);
  const model = route(request.model);
  checkAllowed(request.model ?? model.model, caller);
  checkKinds(request.tools ?? [], caller, isBacked);
  checkToolModels(request.tools ?? [], model, caller);
  return model;
}

interface Offering extends Pick<GoesOn, "tenant" | "conversation"> {
  readonly tools: readonly Tool[];
}

/** What earlier requests brought may be chosen too; it is read only where nothing else fits. */
async function checkChosen(
  { readBefore }: FindParts,
  { tool_choice, previous_response_id = null, multi_agent }: CreateResponse,
  { tools, tenant, conversation }: Offering,
): Promise<void> {
  if (!tool_choice) return;
  const offered = multi_agent?.enabled ? [...tools, TEAM_TOOL] : tools;
  const goesOn = previous_response_id !== null || conversation !== null;
  if (!goesOn || isOffered(tool_choice, offered)) return checkChoice(tool_choice, offered);
  const before = await readBefore({ tenant, previous_response_id, conversation });
  checkChoice(tool_choice, [...collectTools(before, []), ...offered]);
}

/** Items that come behind a request: checked and limited as those that come with one. */
export async function findInput(parts: FindParts, input: unknown, caller: Caller): Promise<Item[]> {
  const items = Array.isArray(input) ? input : [];
  checkSize({ input: items }, parts.size);
  // Whom they go to is not known here: they name what this server could fetch.
  const media = { ...caller, kept: parts, web: parts.web, readsItself: () => false };
  return await findItems(parts, items, media);
}

async function findItems(
  parts: FindParts,
  input: string | readonly unknown[],
  media: Asking,
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

/** How far it has come. Answers are added whole, so this is never within one. */
async function findConversation(
  parts: FindParts,
  tenant: string,
  id: string,
): Promise<Found["conversation"]> {
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

/** The field of a request; addresses have another name for it. */
const CONVERSATION = "conversation";
