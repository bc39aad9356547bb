/** The contents of a session, a conversation or a chain of responses before a run of it. */

import type { AgentTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import { readBefore } from "../../responses/conversations/conversation-before.ts";
import { readItems } from "../../responses/conversations/items.ts";
import { sinceSummary } from "../../responses/conversations/run-items.ts";
import { readWish } from "../../responses/request/response-wish.ts";
import type { Shelf } from "../../store/shelf.ts";

/** Undefined if some of it is deleted. */
export type ReadBefore = (task: AgentTask) => Promise<readonly Item[] | undefined>;

export function createReadBefore(openShelf: () => Promise<Shelf>, engine: Engine): ReadBefore {
  return async ({ session, response }) => {
    if (!session && !response) return [];
    const shelf = await openShelf();
    const read = async (tenant: string, id: string, position: number): Promise<readonly Item[]> =>
      (await readItems({ shelf }, tenant, id, position)).items;
    try {
      if (session) {
        if (session.position === 0) return [];
        return sinceSummary(await read(session.tenant, session.id, session.position));
      }
      const parts = { shelf, place: engine, readConversation: read };
      return await readBefore(parts, readWish(response ?? {}));
    } catch (thrown) {
      if (thrown instanceof Failure && GONE.has(thrown.code)) return undefined;
      throw thrown;
    }
  };
}

const GONE: ReadonlySet<string> = new Set(["not_found", "previous_response_not_found"]);
