/** One prompt at work: a run, its log as rows, and how it is steered and stopped. */

import { toFailure } from "../../base/failure.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Run } from "../../runtime/runtime.ts";
import type { StartedRun } from "./open-chat.ts";
import type { Spent } from "./status-row.ts";
import type { Transcript } from "./transcript.ts";

export interface TurnParts {
  readonly transcript: Transcript;
  /** Something of the log has come. */
  onNews(): void;
}

export class ChatTurn {
  readonly transcript: Transcript;
  readonly startedAtMs: number;
  readonly #run: Run;
  readonly #follow: Run["follow"];
  readonly #onNews: () => void;
  #isStopping = false;
  /** The tokens of the root's last model call: how full the window is. */
  #contextUsed = 0;
  #tokens = 0;
  #knownUsd = 0;
  #unknownCalls = 0;

  constructor({ run, follow }: StartedRun, { transcript, onNews }: TurnParts, nowMs: number) {
    this.#run = run;
    this.#follow = follow;
    this.transcript = transcript;
    this.#onNews = onNews;
    this.startedAtMs = nowMs;
  }

  get id(): string {
    return this.#run.id;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get contextUsed(): number {
    return this.#contextUsed;
  }

  get spent(): Spent {
    return { tokens: this.#tokens, knownUsd: this.#knownUsd, unknownCalls: this.#unknownCalls };
  }

  /** Resolves when the run has ended and all of it was read. */
  async finish(): Promise<Run> {
    try {
      for await (const batch of this.#follow()) {
        for (const logged of batch) this.#read(logged);
        this.#onNews();
      }
    } catch (thrown) {
      // What cannot be shown must not go on spending.
      await this.#run.cancel();
      this.transcript.say(toFailure(thrown).message);
    }
    await this.#run.result();
    return this.#run;
  }

  /** Rejects with `conflict` where the run has ended. */
  async steer(text: string): Promise<void> {
    await this.#run.steer(text);
  }

  stop(): void {
    this.#isStopping = true;
    void this.#run.cancel();
  }

  #read(logged: LoggedEvent): void {
    this.transcript.read(logged);
    const { event, run_id } = logged;
    if (event.type !== "turn_end") return;
    this.#tokens += event.usage.total_tokens;
    this.#knownUsd += event.cost_usd ?? 0;
    if (event.cost_usd === null) this.#unknownCalls++;
    if (run_id === this.#run.id) this.#contextUsed = event.usage.total_tokens;
  }
}
