/**
 * The context of a request, in the API's form: input items, compaction, the length of an input.
 */

import type { CompactionSeal } from "../../agent/context/compacted-context.ts";
import { type Expanding, expandCompactions } from "../../agent/context/expand-compactions.ts";
import { estimateTokens } from "../../agent/context/token-estimate.ts";
import type { Item } from "../../protocol/items.ts";
import { type CreateResponse, parseCreateResponse } from "../../protocol/request.ts";
import { type BeforeParts, readBefore } from "../conversations/conversation-before.ts";
import type { ShownItem } from "../conversations/shown-item.ts";
import { withoutRepeated } from "../references/resolve-references.ts";
import type { FoundForRequest } from "../request/plan-response.ts";
import type { Caller } from "../tenant/caller.ts";
import type { ListPage } from "../tenant/paging.ts";
import type { AgentModels } from "./agent-models.ts";
import type { ResponsesApi } from "./api.ts";
import { toUnknownResponse } from "./api.ts";
import { type CompactedResponse, compactConversation } from "./compact-request.ts";
import { type FindParts, findRequest } from "./find-request.ts";
import { listInputItems } from "./input-items.ts";

export interface ContextApi {
  /** `query` is that of the address. Rejects if the response does not exist. */
  inputItems(id: string, caller: Caller, query: URLSearchParams): Promise<ListPage<ShownItem>>;
  /** Leaving early ends the run. */
  compact(body: unknown, caller: Caller, signal?: AbortSignal): Promise<CompactedResponse>;
  countInput(body: unknown, caller: Caller): Promise<InputTokens>;
  /** Opens a summary that this server has sealed for the caller; undefined for any other text. */
  readSummary(sealed: string, caller: Caller): string | undefined;
}

export interface ContextApiParts {
  readonly api: Pick<ResponsesApi, "create">;
  readonly before: BeforeParts;
  readonly finding: FindParts;
  readonly sealOf: (tenant: string) => CompactionSeal;
  /** Puts the prompt that a request names into its body. */
  readonly prepare: (body: unknown) => Promise<unknown>;
  readonly agents: Pick<AgentModels, "read">;
}

export function createContextApi(parts: ContextApiParts): ContextApi {
  const { api, before, finding, sealOf, prepare, agents } = parts;
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
      const filled = await prepare(body);
      const asked = agents.read(filled, caller) ?? { body: filled, caller };
      return await countInputTokens(counting, asked.body, asked.caller);
    },
  };
}

/**
 * `POST /v1/responses/input_tokens`: estimates the length of a request for its model. It is prepared like a request
 * for an answer, and then estimated: only the vendor counts exactly, and most have no call for it.
 */
interface InputTokens {
  readonly object: "response.input_tokens";
  readonly input_tokens: number;
}

interface CountParts {
  readonly find: (
    asked: { readonly request: CreateResponse },
    caller: Caller,
  ) => Promise<FoundForRequest>;
  readonly readBefore: (wish: {
    readonly tenant: string;
    readonly previous_response_id: string | null;
    readonly conversation: FoundForRequest["conversation"];
  }) => Promise<readonly Item[]>;
  readonly expanding: Expanding;
}

async function countInputTokens(
  { find, readBefore, expanding }: CountParts,
  body: unknown,
  caller: Caller,
): Promise<InputTokens> {
  const request = parseCreateResponse(body ?? {});
  const found = await find({ request }, caller);
  const { conversation, instructions, tools } = found;
  const previous_response_id = request.previous_response_id ?? null;
  const wish = { tenant: caller.tenant, previous_response_id, conversation };
  const before = withoutRepeated(await readBefore(wish), found.items);
  const { items } = expandCompactions([...before, ...found.items], expanding);
  const input_tokens = estimateTokens({ items, instructions: instructions ?? "", tools });
  return { object: "response.input_tokens", input_tokens };
}
