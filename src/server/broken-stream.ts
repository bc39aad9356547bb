/** The last frames of a stream whose events stopped with a failure: one error, one terminal event. */

import type { Failure } from "../base/failure.ts";
import type { EmittedEvent, EmittedResponse } from "../protocol/emitted.ts";
import { breakResponse } from "../responses/fold/response-object.ts";
import { toTerminalEvents } from "../responses/fold/terminal-events.ts";
import { toFailureAnswer } from "./failure-answer.ts";
import type { StreamEvent } from "./route.ts";

export interface ToldStream {
  /** Call it with each batch that was sent. */
  read(batch: readonly StreamEvent[]): void;
  /** The events that end the stream. Chat completions have an error and no terminal event. */
  toBroken(failure: Failure): StreamEvent[];
}

export function createToldStream(): ToldStream {
  let number = -1;
  let response: EmittedResponse | undefined;
  return {
    read(batch) {
      const first = batch[0];
      const last = batch[batch.length - 1];
      if (first && "response" in first) response = first.response;
      if (last && "sequence_number" in last) number = last.sequence_number;
    },
    toBroken(failure) {
      if (!response) return [{ frame: JSON.stringify(toFailureAnswer(failure).body) }];
      const broken = breakResponse(response, failure, []);
      return toTerminalEvents(broken, failure.code).map((event) => {
        number++;
        return { ...event, sequence_number: number } as EmittedEvent;
      });
    },
  };
}
