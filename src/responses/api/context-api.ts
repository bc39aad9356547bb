/** What requests go on with, as the API shows it: input items, compaction, the length of an input. */

import type { CompactionSeal } from "../../agent/context/compacted-context.ts";
import { type BeforeParts, readBefore } from "../conversations/conversation-before.ts";
import type { ShownItem } from "../conversations/shown-item.ts";
import type { Caller } from "../tenant/caller.ts";
import type { Page } from "../tenant/paging.ts";
import type { ResponsesApi } from "./api.ts";
import { toUnknownResponse } from "./api.ts";
import { type CompactedResponse, compactConversation } from "./compact-request.ts";
import { type FindParts, findRequest } from "./find-request.ts";
import { listInputItems } from "./input-items.ts";
import { countInputTokens, type InputTokens } from "./input-tokens.ts";

export interface ContextApi {
  /** `query` is that of the address. Rejects for a response that is not there. */
  inputItems(id: string, caller: Caller, query: URLSearchParams): Promise<Page<ShownItem>>;
  /** Leaving early ends it. */
  compact(body: unknown, caller: Caller, signal?: AbortSignal): Promise<CompactedResponse>;
  countInput(body: unknown, caller: Caller): Promise<InputTokens>;
  /** The words of a conversation in short that this server has sealed for the caller; undefined for any other text. */
  readSummary(sealed: string, caller: Caller): string | undefined;
}

export interface ContextApiParts {
  readonly api: Pick<ResponsesApi, "create">;
  readonly before: BeforeParts;
  readonly finding: FindParts;
  readonly sealOf: (tenant: string) => CompactionSeal;
  /** A request's body with its prompt in it. */
  readonly prepare: (body: unknown) => Promise<unknown>;
}

export function createContextApi(parts: ContextApiParts): ContextApi {
  const { api, before, finding, sealOf, prepare } = parts;
  return {
    async inputItems(id, { tenant }, query) {
      const page = await listInputItems(before, { tenant, id, query });
      if (page) return page;
      throw toUnknownResponse(id);
    },
    compact: (body, caller, signal) =>
      compactConversation(
        { create: api.create, seal: sealOf(caller.tenant), signal },
        body,
        caller,
      ),
    readSummary: (sealed, { tenant }) => sealOf(tenant).open(sealed)?.summary,
    async countInput(body, caller) {
      const counting = {
        find: (asked: Parameters<typeof findRequest>[1]) => findRequest(finding, asked, caller),
        readBefore: (wish: Parameters<typeof readBefore>[1]) => readBefore(before, wish),
        expanding: { open: sealOf(caller.tenant).open, isNative: true },
      };
      return await countInputTokens(counting, await prepare(body), caller);
    },
  };
}
