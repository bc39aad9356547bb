/**
 * Messages to runs, left by any process and taken only by the owner. The engine's own part of a record: other code
 * leaves one with `Engine.signal`, and run code receives it with `waitFor` or `take`.
 */

import type { Json } from "../base/json.ts";

export interface Mailbox {
  /** Leaves a message for a run; a second one with the same key is the same message. */
  putSignal(id: string, signal: { topic: string; key: string; body: Json }): Promise<void>;
  /**
   * The oldest message on a topic that was not taken yet. Journaled in the same transaction, under `takenKey(topic,
   * n)`, so that a crash right after it does not lose the message.
   */
  takeSignal(id: string, epoch: number, topic: string): Promise<Json | undefined>;
  /**
   * All messages on a topic that were not taken yet, oldest first. Journaled as one list under `key` in the same
   * transaction. If there are none, nothing is written.
   */
  takeSignals(id: string, epoch: number, from: { topic: string; key: string }): Promise<Json[]>;
  /** The runs of an owner that were left a message on a topic, with the oldest that is not taken. */
  findSignals(owner: string, topic: string): Promise<FoundSignal[]>;
}

export interface FoundSignal {
  readonly run_id: string;
  readonly body: Json;
}
