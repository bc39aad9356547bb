/** A response that has begun, for the code that requested it. */

import type { Failure } from "../../base/failure.ts";
import type { EmittedEvent, EmittedResponse } from "../../protocol/emitted.ts";
import type { PlacedItem } from "../fold/given-items.ts";
import type { AskedResponse } from "../request/asked-response.ts";

export type Events = AsyncGenerator<readonly EmittedEvent[]>;

export interface LiveResponse {
  readonly id: string;
  /** True if an earlier request with the same key made it. */
  readonly isReplayed?: boolean | undefined;
  /** The request. */
  readonly asked: AskedResponse;
  /** All events, live. Leaving early ends a response that is not stored; others continue. */
  events(signal?: AbortSignal): Events;
  /** The injected input, with its places in the output. Known once its events were read. */
  injected(): readonly PlacedItem[];
  /** The failure, if it failed before any output. Known once its events were read. */
  failure(): Failure | undefined;
  /**
   * The response at its end, or at its beginning if it is in the background. Rejects with the failure of a response
   * without output.
   */
  response(signal?: AbortSignal): Promise<EmittedResponse>;
  /** Ends a stored response that still runs, for a client that leaves and cannot return to it. */
  end?(): Promise<void>;
}
