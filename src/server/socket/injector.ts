/** `response.inject` of the multi-agent beta: more items for a response that runs on this connection. */

import { toFailure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Caller } from "../../responses/caller.ts";
import type { InjectEvent } from "./client-event.ts";
import type { Outbox } from "./outbox.ts";
import type { Turns } from "./turns.ts";

/** Resolves when the items are the response's. Rejects where it takes none, or no more. */
export type Inject = (
  responseId: string,
  items: readonly unknown[],
  caller: Caller,
) => Promise<void>;

export interface InjectorParts {
  readonly turns: Turns;
  readonly outbox: Outbox;
  readonly inject: Inject | undefined;
}

/** Answers every event with `response.inject.created` or `.failed`; never rejects. */
export async function injectItems(parts: InjectorParts, event: InjectEvent): Promise<void> {
  const { responseId, input } = event;
  const turn = parts.turns.find(responseId);
  const error = await findError(parts, event);
  const streamId = turn?.event.streamId;
  parts.outbox.say({
    type: error ? "response.inject.failed" : "response.inject.created",
    response_id: responseId,
    ...(error ? { input, error } : {}),
    sequence_number: turn?.sequenceNumber ?? 0,
    ...(streamId === undefined ? {} : { stream_id: streamId }),
  });
}

/** The published API has these two codes and no other. */
interface InjectError {
  readonly code: "response_already_completed" | "response_not_found";
  readonly message: string;
}

/** Undefined where the items were taken. */
async function findError(
  { turns, inject }: InjectorParts,
  { responseId, input }: InjectEvent,
): Promise<InjectError | undefined> {
  const turn = turns.find(responseId);
  const shown = clip(responseId, 80);
  if (!turn && turns.hasEnded(responseId)) {
    return { code: "response_already_completed", message: `Response \`${shown}\` has ended.` };
  }
  if (!turn) {
    const message = `No response \`${shown}\` runs on this connection.`;
    return { code: "response_not_found", message };
  }
  if (!inject) {
    return { code: "response_not_found", message: "This server takes no items in between." };
  }
  try {
    await inject(responseId, input, turn.caller);
    return undefined;
  } catch (thrown) {
    const { message } = toFailure(thrown);
    const code = turns.hasEnded(responseId) ? "response_already_completed" : "response_not_found";
    return { code, message };
  }
}
