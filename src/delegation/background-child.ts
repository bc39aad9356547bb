/**
 * One child of a run that may outlive the call that started it: its call waits for its end or its question, and may
 * leave it running.
 */

import { toAbortFailure } from "../base/async.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { Ending } from "../protocol/run-events.ts";
import type { ChildReport } from "./child.ts";
import { type Envelope, toEnvelope, toErrorEnvelope } from "./envelope.ts";
import type { DelegationNode } from "./node.ts";
import type { ChildQuestion, OpenQuestions } from "./questions.ts";
import type { Spawning } from "./run-child.ts";
import type { OrderedChild } from "./spawn.ts";
import { tellEnding } from "./tell-ending.ts";

interface ChildParts {
  readonly node: DelegationNode;
  readonly questions: OpenQuestions;
  /** Aborts when the parent's run is over. */
  readonly signal: AbortSignal;
  /** Called when it has ended, and when it asks. */
  onNews(): void;
}

const HOW_ENDED: Readonly<Record<Ending, string>> = {
  completed: "finished",
  max_turns: "out of turns",
  budget: "out of budget",
  refused: "refused",
  timeout: "out of time",
  cancelled: "stopped",
  failed: "failed",
};

export class BackgroundChild {
  readonly id: string;
  readonly label: string;
  /** Resolves when it has ended, however it ended. */
  readonly ended: Promise<void>;
  /** Set when it has ended; undefined if it ended with its parent. */
  report: ChildReport | undefined;
  /** The report of the child's end for its parent's model. */
  envelope: Envelope | undefined;
  failure: Failure | undefined;
  /** True if the end of its parent's run has stopped it. */
  isStoppedWithRun = false;
  /** True once no call waits for it. */
  isDetached = false;
  readonly #parts: ChildParts;
  readonly #stopping = new AbortController();
  readonly #signal: AbortSignal;
  #end: () => void = () => {};
  #ask: (question: ChildQuestion) => void = () => {};
  #unfollow: () => void = () => {};

  constructor(parts: ChildParts, { id, label }: { readonly id: string; readonly label: string }) {
    this.#parts = parts;
    this.id = id;
    this.label = label;
    this.#signal = AbortSignal.any([parts.signal, this.#stopping.signal]);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The child's spawning with a signal of its own, because it may outlive its call. */
  toSpawning(spawning: Spawning): Spawning {
    const { signal } = spawning;
    const follow = (): void => this.#stopping.abort(toAbortFailure(signal));
    signal.addEventListener("abort", follow, { once: true });
    if (signal.aborted) follow();
    this.#unfollow = () => signal.removeEventListener("abort", follow);
    return { ...spawning, signal: this.#signal, isDetached: () => this.isDetached };
  }

  /** Starts it. Resolves when it is written down; rejects if it could not be. */
  async begin(child: OrderedChild): Promise<void> {
    const unlisten = this.#parts.questions.listen(this.id, (question) => {
      this.#ask(question);
      this.#parts.onNews();
    });
    await new Promise<void>((resolve, reject) => {
      child
        .run(resolve)
        .then((report) => this.#finish(report))
        .catch((thrown: unknown) => this.#fail(thrown))
        .finally(() => {
          unlisten();
          this.leaveCall();
          this.#end();
          this.#parts.onNews();
          if (this.failure) reject(this.failure);
          else resolve();
        });
    });
  }

  /** For its call: resolves with its question, or undefined once it has ended. */
  async untilEndOrQuestion(): Promise<ChildQuestion | undefined> {
    const asked = new Promise<ChildQuestion>((resolve) => {
      this.#ask = resolve;
      if (this.question) resolve(this.question);
    });
    return await Promise.race([this.ended.then(() => undefined), asked]);
  }

  /** From here on the end of its call does not end it. */
  leaveCall(): void {
    this.#unfollow();
  }

  /** Takes the report of a child that ended before this process took its parent over. */
  takeEnd(report: ChildReport): void {
    this.isDetached = true;
    this.report = report;
    this.envelope = this.#toEnvelope(report, () => {});
    this.#end();
  }

  /** Marks a child that does not exist any more as failed. */
  lose(message: string): void {
    this.isDetached = true;
    this.envelope = toErrorEnvelope(this.#named, message);
    this.#end();
  }

  get question(): ChildQuestion | undefined {
    return this.envelope ? undefined : this.#parts.questions.of(this.id);
  }

  detach(): void {
    this.isDetached = true;
    this.leaveCall();
  }

  stop(message: string): void {
    this.#stopping.abort(new Failure("cancelled", message));
  }

  get #named(): { readonly label: string; readonly depth: number } {
    return { label: this.label, depth: this.#parts.node.task.depth + 1 };
  }

  /** How it ended, in a word or two; undefined while it works. */
  get howEnded(): string | undefined {
    if (!this.envelope) return undefined;
    if (this.report) return HOW_ENDED[this.report.ending];
    return this.failure?.code === "cancelled" ? HOW_ENDED.cancelled : HOW_ENDED.failed;
  }

  #finish(report: ChildReport): void {
    this.report = report;
    this.isStoppedWithRun = this.#parts.signal.aborted && report.ending !== "completed";
    const { node } = this.#parts;
    // A call that waits for it reports its end itself.
    this.envelope = this.#toEnvelope(report, this.isDetached ? node.observe : () => {});
    if (this.isDetached) tellEnding(node, this.#named, { report, envelope: this.envelope });
  }

  #fail(thrown: unknown): void {
    this.failure = toFailure(thrown);
    this.isStoppedWithRun = this.#parts.signal.aborted;
    this.envelope = toErrorEnvelope(this.#named, this.failure.message);
  }

  #toEnvelope(report: ChildReport, observe: DelegationNode["observe"]): Envelope {
    const { settings, isRecorded } = this.#parts.node;
    return toEnvelope(this.#named, report, {
      maxBytes: settings.outputMaxSize,
      isRecorded,
      observe,
    });
  }
}
