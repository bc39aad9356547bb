/**
 * `POST /v1/responses/input_tokens`: how long a request would be for its model. The same preparation as
 * for an answer, and then an estimate: only the vendor counts exactly, and most have no way to ask.
 */

import { type Expanding, expandCompactions } from "../../agent/context/expand-compactions.ts";
import { estimateTokens } from "../../agent/context/token-estimate.ts";
import type { Item } from "../../protocol/items.ts";
import { type CreateResponse, parseCreateResponse } from "../../protocol/request.ts";
import { withoutRepeated } from "../references/resolve-references.ts";
import type { Found } from "../request/plan-response.ts";
import type { Caller } from "../tenant/caller.ts";

export interface InputTokens {
  readonly object: "response.input_tokens";
  readonly input_tokens: number;
}

export interface CountParts {
  readonly find: (asked: { readonly request: CreateResponse }, caller: Caller) => Promise<Found>;
  readonly readBefore: (wish: {
    readonly tenant: string;
    readonly previous_response_id: string | null;
    readonly conversation: Found["conversation"];
  }) => Promise<readonly Item[]>;
  readonly expanding: Expanding;
}

export async function countInputTokens(
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
