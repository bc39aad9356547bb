/**
 * Models for responses that need nothing but a model: not stored, no calls for the server to make, no
 * budget to keep. Opened once a target and kept, because opening costs more than asking.
 */

import { LIMIT_KINDS, type LimitKind } from "../../agent/limits.ts";
import type { AgentTask } from "../../agent/task.ts";
import type { Item } from "../../protocol/items.ts";
import type { Direct } from "../../responses/api.ts";
import { isPlainItem } from "../../responses/bridge/plain-items.ts";
import { findMedia, type MediaPart, urlOf } from "../../responses/media/media-parts.ts";
import { checkCalls } from "../../responses/request/check-calls.ts";
import type { ResponseWish } from "../../responses/request/response-wish.ts";
import type { AgentParts } from "../agent-body.ts";
import type { OpenedModel } from "../open-model.ts";

/** Enough for every model that a server is asked for in earnest. */
const MAX_KEPT = 200;

export type OpenDirect = (task: AgentTask, wish: ResponseWish) => Promise<Direct | undefined>;

export function createOpenDirect({ openModel }: Pick<AgentParts, "openModel">): OpenDirect {
  const kept = new Map<string, OpenedModel>();

  const open = async (task: AgentTask): Promise<OpenedModel> => {
    const key = `${task.model} ${task.provider} ${task.url} ${task.api_key_name}`;
    const known = kept.get(key);
    if (known) return known;
    const opened = await openModel(task);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, opened);
    return opened;
  };
  return async (task, wish) => {
    if (!isSimple(task, wish)) return undefined;
    const { provider, isNative, reasoning, checkInput } = await open(task);
    if (!wish.tools.every(({ type }) => type === "function" || isNative?.(type))) return undefined;
    checkInput(task.items);
    checkCalls([], task.items);
    return { provider, sealed: reasoning.sealed };
  };
}

const KINDS = Object.keys(LIMIT_KINDS) as LimitKind[];

/** What several agents have said is sorted out first. */
function isPlain(item: Item): boolean {
  return isPlainItem(item.type) && !("agent" in item && item.agent);
}

function isSimple({ format, limits, items }: AgentTask, wish: ResponseWish): boolean {
  if (wish.store || wish.multi_agent || wish.is_compaction || wish.compact_threshold !== null) {
    return false;
  }
  if (wish.previous_response_id !== null || wish.conversation || wish.truncation === "auto") {
    return false;
  }
  if (format.type !== "text" || KINDS.some((kind) => limits[kind] !== null)) return false;
  if (!items.every(isPlain)) return false;
  return findMedia(items).every(({ part }) => isWhole(part));
}

/** Whether it can be sent as it is: nothing has to be read or fetched for it. */
function isWhole(part: MediaPart): boolean {
  return part.type !== "input_file" && !part.file_id && urlOf(part) === undefined;
}
