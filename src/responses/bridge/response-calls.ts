/**
 * Decides who makes the calls of an answer: the server makes those of its own tools, the client the rest.
 */

import type { Calls, OwnCall } from "../../agent/calls.ts";
import type { Item } from "../../protocol/items.ts";
import { toMcpCall, toText } from "../kinds/mcp.ts";
import type { Offer, ServerRun } from "../kinds/tool-kind.ts";
import type { Bridge } from "./bridge.ts";
import { isForClient } from "./client-calls.ts";

export function createResponseCalls(bridge: Bridge): Calls {
  return {
    findOwn: (items) => items.flatMap((item) => toOwnCall(item, bridge) ?? []),
    waitsForClient: (items) => items.some((item) => isForClient(item) && !toOwnCall(item, bridge)),
  };
}

/** Undefined if it is not a call, is the client's, or was made by the vendor. */
function toOwnCall(item: Item, bridge: Bridge): OwnCall | undefined {
  const offer = bridge.offerOf(item);
  const isPending = "status" in item && item.status === "in_progress";
  if (!offer?.run || !isPending) return undefined;
  return toCall(item, { bridge, offer, run: offer.run });
}

interface Run {
  readonly bridge: Bridge;
  readonly offer: Offer;
  readonly run: ServerRun;
}

function toCall(item: Item, { bridge, offer, run }: Run): OwnCall {
  return {
    callId: "id" in item && typeof item.id === "string" ? item.id : "",
    name: bridge.nameOf(offer),
    arguments: run.toArguments(item),
    item,
    show: (result, shown = item) => run.show(shown, result),
  };
}

/**
 * The calls that the client has approved and that were not made yet, each once. A call that was refused in any
 * request stays refused.
 */
export function toApprovedCalls(items: readonly Item[], bridge: Bridge): OwnCall[] {
  const made = new Set(
    items.flatMap((item) => (item.type === "mcp_call" ? [item.approval_request_id] : [])),
  );
  const requests = new Map(
    items.flatMap((item) => (item.type === "mcp_approval_request" ? [[item.id, item]] : [])),
  );
  const answers = items.filter((item) => item.type === "mcp_approval_response");
  const refused = new Set(
    answers.flatMap((item) => (item.approve ? [] : [item.approval_request_id])),
  );
  return answers.flatMap((item) => {
    const { approval_request_id } = item;
    if (refused.has(approval_request_id)) return [];
    const request = requests.get(approval_request_id);
    const offer = request && bridge.offerOf(request);
    if (!request || !offer?.approved || made.has(approval_request_id)) return [];
    made.add(approval_request_id);
    const { server_label, name, arguments: text } = request;
    const call = { id: "", server_label, name, arguments: toText(text), approval_request_id };
    return [toCall(toMcpCall(call), { bridge, offer, run: offer.approved })];
  });
}
