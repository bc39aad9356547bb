/** A response that has begun, to whoever asked for it. */

import type { Failure } from "../../base/failure.ts";
import type { EmittedEvent, EmittedResponse } from "../../protocol/emitted.ts";
import type { PlacedItem } from "../fold/given-items.ts";
import type { AskedResponse } from "../request/plan-response.ts";

export type Events = AsyncGenerator<readonly EmittedEvent[]>;

export interface LiveResponse {
  readonly id: string;
  /** Set where it was made by an earlier request with the same key. */
  readonly isReplayed?: boolean | undefined;
  /** What the request asked for. */
  readonly asked: AskedResponse;
  /** All events, live. Leaving early ends a response that is not stored, and no other. */
  events(signal?: AbortSignal): Events;
  /** What was injected, with its places in the output. Known once its events were read. */
  injected(): readonly PlacedItem[];
  /** Why it failed, where it has and had said nothing before. Known once its events were read. */
  failure(): Failure | undefined;
  /**
   * The response as it ended, or of one in the background as it began. Rejects with the failure of one
   * that had said nothing before.
   */
  response(signal?: AbortSignal): Promise<EmittedResponse>;
  /** Ends a stored one that still runs, for a client that leaves and has no way to come back to it. */
  end?(): Promise<void>;
}
