/**
 * One child of a run that may go on without the call that asked for it: its call waits for its end, and
 * for its question, and may leave it running.
 */

import { toAbortFailure } from "../base/async.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { Ending } from "../protocol/run-events.ts";
import type { ChildReport } from "./child.ts";
import { type Envelope, toEnvelope, toErrorEnvelope } from "./envelope.ts";
import type { DelegationNode } from "./node.ts";
import type { OpenQuestions, Question } from "./questions.ts";
import type { OrderedChild, Spawning } from "./spawn.ts";
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
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
  /** Once it has ended; undefined where that was its parent's end. */
  report: ChildReport | undefined;
  /** What its parent's model is told of its end. */
  envelope: Envelope | undefined;
  failure: Failure | undefined;
  /** Whether the end of its parent's run has stopped it. */
  isStoppedWithRun = false;
  /** Whether no call waits for it any more. */
  isDetached = false;
  readonly #parts: ChildParts;
  readonly #stopping = new AbortController();
  readonly #signal: AbortSignal;
  #end: () => void = () => {};
  #ask: (question: Question) => void = () => {};
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

  /** How it is to be ordered: its own signal, for it may outlive its call's. */
  toSpawning(spawning: Spawning): Spawning {
    const { signal } = spawning;
    const follow = (): void => this.#stopping.abort(toAbortFailure(signal));
    signal.addEventListener("abort", follow, { once: true });
    if (signal.aborted) follow();
    this.#unfollow = () => signal.removeEventListener("abort", follow);
    return { ...spawning, signal: this.#signal, isDetached: () => this.isDetached };
  }

  /** Begins. Resolves when it is written down; rejects when it could not be. */
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

  /** For its call: what it asks, or undefined once it has ended. */
  async untilEndOrQuestion(): Promise<Question | undefined> {
    const asked = new Promise<Question>((resolve) => {
      this.#ask = resolve;
      if (this.question) resolve(this.question);
    });
    return await Promise.race([this.ended.then(() => undefined), asked]);
  }

  /** Its call's end is not its own from here on. */
  leaveCall(): void {
    this.#unfollow();
  }

  /** One that has ended before this process took its parent over. */
  takeEnd(report: ChildReport): void {
    this.isDetached = true;
    this.report = report;
    this.envelope = this.#toEnvelope(report, () => {});
    this.#end();
  }

  /** One that is not there any more. */
  lose(message: string): void {
    this.isDetached = true;
    this.envelope = toErrorEnvelope(this.#named, message);
    this.#end();
  }

  get question(): Question | undefined {
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
    // A call that waits for it tells of its end itself.
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
      ...{ isRecorded, observe },
    });
  }
}
