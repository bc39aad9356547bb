/**
 * `response.inject` of the multi-agent beta: answers to the calls of a response that runs on this connection.
 */

import { toFailure } from "../../base/failure.ts";
import { isOwnFault, toToldMessage } from "../../base/server-fault.ts";
import { clip } from "../../base/text.ts";
import type { ResponsesApi } from "../../responses/api/api.ts";
import type { InjectEvent } from "./client-event.ts";
import type { Outbox } from "./outbox.ts";
import type { SocketTurns } from "./turns.ts";

export interface InjectorParts {
  readonly turns: SocketTurns;
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
 * The published API has only these two codes. The first tells the client to send its items with another request. The
 * second also comes from a response that runs and has no use for the items.
 */
interface InjectError {
  readonly code: "response_already_completed" | "response_not_found";
  readonly message: string;
}

/** Undefined if the items were accepted. */
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
