/**
 * Everything that a request names outside of itself, found before anything runs: its model, the
 * response or conversation it goes on with, items it refers to, files and addresses. What is not there,
 * or is somebody else's, is refused here, by the name of the field.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { type Item, toItems } from "../../protocol/items.ts";
import type { Caller } from "../caller.ts";
import { toUnknownPrevious } from "../conversation-before.ts";
import { withConversation } from "../conversation-turn.ts";
import { readItems } from "../conversations/items.ts";
import { findKept } from "../kept-response.ts";
import { collectTools } from "../kinds/collect-tools.ts";
import { checkMedia } from "../media/check-media.ts";
import { findMasks, findMedia } from "../media/media-parts.ts";
import type { WebMediaSettings } from "../media/web-media.ts";
import { createFindItem, type IndexParts } from "../references/item-index.ts";
import { resolveReferences } from "../references/resolve-references.ts";
import type { ShelfParts } from "../shelf-parts.ts";
import { checkSize, type SizeLimits } from "./check-size.ts";
import { toConversationId } from "./echo.ts";
import { checkKinds, type IsBacked } from "./hosted-kinds.ts";
import type { AskedResponse, Found } from "./plan-response.ts";
import { sealItems, sealTools } from "./seal-tools.ts";

export interface FindParts extends IndexParts, ShelfParts {
  /** Rejects a name that is nobody's. */
  readonly route: (name: string | null | undefined) => Found["model"];
  readonly web: WebMediaSettings;
  readonly root: string;
  readonly sealKey: Uint8Array;
  readonly size: SizeLimits;
  /** Whether the server makes the calls of a client's kind of tool itself. */
  readonly isBacked: IsBacked;
}

export async function findRequest(
  parts: FindParts,
  { request }: Pick<AskedResponse, "request">,
  caller: Caller,
): Promise<Found> {
  const model = findModel(parts, { request }, caller);
  const { tenant } = caller;
  const { previous_response_id, conversation } = request;
  if (previous_response_id && !(await findKept(parts.shelf, tenant, previous_response_id))) {
    throw toUnknownPrevious(previous_response_id);
  }
  const items = await findItems(parts, request.input ?? [], tenant);
  const tools = collectTools(items, request.tools ?? []);
  checkKinds(tools, caller, parts.isBacked);
  await checkMedia(findMasks(tools), { kept: parts, tenant, web: parts.web });
  return {
    caller,
    model,
    items,
    instructions: request.instructions ?? null,
    conversation: conversation
      ? await findConversation(parts, tenant, toConversationId(conversation))
      : null,
    root: parts.root,
    tools: sealTools(tools, parts.sealKey),
  };
}

/** The model that a request means; also rejects what is too large, before anything is opened. */
export function findModel(
  { size, route, isBacked }: Pick<FindParts, "size" | "route" | "isBacked">,
  { request }: Pick<AskedResponse, "request">,
  caller: Caller,
): Found["model"] {
  checkSize(request, size);
  checkName(request.model);
  const model = route(request.model);
  checkAllowed(request.model ?? model.model, caller);
  checkKinds(request.tools ?? [], caller, isBacked);
  return model;
}

/** Items that come behind a request: checked and limited as those that come with one. */
export async function findInput(
  parts: FindParts,
  input: unknown,
  { tenant }: Caller,
): Promise<Item[]> {
  const items = Array.isArray(input) ? input : [];
  checkSize({ input: items }, parts.size);
  return await findItems(parts, items, tenant);
}

/** Names are looked for with patterns and are in every answer. */
const MAX_NAME_CHARS = 512;

function checkName(name: string | null | undefined): void {
  if ((name?.length ?? 0) <= MAX_NAME_CHARS) return;
  const message = `\`model\` has ${name?.length} characters; at most ${MAX_NAME_CHARS} are allowed.`;
  throw new Failure("invalid_request", message, { param: "model" });
}

function checkAllowed(name: string, { models }: Caller): void {
  if (!models || models.some((pattern) => matchesGlob(name, pattern))) return;
  throw new Failure("forbidden", `This key may not ask the model \`${name}\`.`, { param: "model" });
}

async function findItems(
  parts: FindParts,
  input: string | readonly unknown[],
  tenant: string,
): Promise<Item[]> {
  const given = toItems(input);
  const trigger = given.findIndex(({ type }) => type === "compaction_trigger");
  if (trigger >= 0 && trigger !== given.length - 1) {
    const message = "A `compaction_trigger` must be the last item of the input.";
    throw new Failure("invalid_request", message, { param: `input[${trigger}]` });
  }
  const items = await resolveReferences(given, tenant, createFindItem(parts));
  await checkMedia(findMedia(items), { kept: parts, tenant, web: parts.web });
  return sealItems(items, parts.sealKey);
}

/** How far it has come between two answers, never within one. */
async function findConversation(
  parts: FindParts,
  tenant: string,
  id: string,
): Promise<Found["conversation"]> {
  const { position } = await withConversation(parts, tenant, id, () =>
    readItems(parts, tenant, id),
  );
  return { id, position };
}
