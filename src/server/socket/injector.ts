/** `response.inject` of the multi-agent beta: answers to calls of a response that runs on this connection. */

import { toFailure } from "../../base/failure.ts";
import { isOwnFault, toToldMessage } from "../../base/own-fault.ts";
import { clip } from "../../base/text.ts";
import type { ResponsesApi } from "../../responses/api/api.ts";
import type { InjectEvent } from "./client-event.ts";
import type { Outbox } from "./outbox.ts";
import type { Turns } from "./turns.ts";

export interface InjectorParts {
  readonly turns: Turns;
  readonly outbox: Outbox;
  readonly api: Pick<ResponsesApi, "inject">;
  readonly onDefect: (thrown: unknown) => void;
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

/**
 * The published API has these two codes and no other. The first tells the client to send its items with
 * another request; the second is also what a response says that runs and has no use for them.
 */
interface InjectError {
  readonly code: "response_already_completed" | "response_not_found";
  readonly message: string;
}

/** Undefined where the items were taken. */
async function findError(
  { turns, api, onDefect }: InjectorParts,
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
  try {
    await api.inject(responseId, input, turn.caller);
    return undefined;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (isOwnFault(failure)) onDefect(thrown);
    const isOver = failure.code === "conflict" || turns.hasEnded(responseId);
    const code = isOver ? "response_already_completed" : "response_not_found";
    return { code, message: toToldMessage(failure) };
  }
}
