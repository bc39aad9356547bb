/** One prompt at work: a run, its log as rows, and the means to steer and stop it. */

import { toFailure } from "../../base/failure.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Run } from "../../runtime/runtime.ts";
import type { ChatRun } from "./open-chat.ts";
import type { Spent } from "./status-row.ts";
import type { Transcript } from "./transcript.ts";

export interface ChatTurnParts {
  readonly transcript: Transcript;
  /** Called when new events were read. */
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

  constructor({ run, follow }: ChatRun, { transcript, onNews }: ChatTurnParts, nowMs: number) {
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

  /** Resolves when the run has ended and its whole log was read. */
  async finish(): Promise<Run> {
    try {
      for await (const batch of this.#follow()) {
        for (const logged of batch) this.#read(logged);
        this.#onNews();
      }
    } catch (thrown) {
      // If it cannot be shown, it must not continue to spend.
      await this.#run.cancel();
      this.transcript.say(toFailure(thrown).message);
    }
    await this.#run.result();
    return this.#run;
  }

  /** Rejects with `conflict` if the run has ended. */
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
