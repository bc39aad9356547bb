/** Approvals of MCP calls: answered once in a request, and used only once. */

import { Failure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import { toResponseId } from "../fold/response-object.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

/** Rejects a request that answers one approval twice: it is not known which answer is meant. */
export function checkApprovals(items: readonly Item[]): void {
  const answered = new Set<string>();
  for (const [at, item] of items.entries()) {
    if (item.type !== "mcp_approval_response") continue;
    const { approval_request_id: id } = item;
    if (answered.has(id)) {
      const message = `The approval \`${clip(id, 80)}\` is answered twice in this request.`;
      throw new Failure("invalid_request", message, { param: `input[${at}]` });
    }
    answered.add(id);
  }
}

const APPROVAL_KIND = "approval";

interface Using {
  readonly tenant: string;
  readonly runId: string;
}

/**
 * Takes an approval for a run, in the record, so that of two requests with the same one only one makes its call. Also
 * true for the run that took it before. It is deleted with the response that used it.
 */
export async function useApproval(
  { shelf, clock }: Pick<ShelfParts, "shelf" | "clock">,
  { tenant, runId }: Using,
  id: string,
): Promise<boolean> {
  const name = { tenant, kind: APPROVAL_KIND, id };
  // The runs of a team's agents are named after the first agent's run.
  const [first = runId] = runId.split("/");
  const isTaken = await shelf.put({
    ...name,
    parent: toResponseId(first),
    body: { run: runId },
    created_at_ms: clock.now(),
    expires_at_ms: null,
  });
  return isTaken || toRun((await shelf.get(name))?.body) === runId;
}

function toRun(body: Json | undefined): unknown {
  return body && typeof body === "object" && "run" in body ? body["run"] : undefined;
}
