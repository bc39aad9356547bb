/**
 * The children of a run that no call waits for.
 *
 * They are ordered as all children are, and share alike. While some of them work, one step of the run is
 * open, because their ends are written into its log at any time. What is journaled of them are notes:
 * which call left which of them running, and which report or question the model was told. Whoever takes
 * the run over learns the notes again and finds the children by them, after the last thing that the
 * journal has: only then is known what is left for them to spend.
 */

import type { CallNote, LeftChildren } from "../agent/background.ts";
import { type AgentTask, parseTask } from "../agent/task.ts";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import type { OtherRuns, RunContext } from "../engine/engine.ts";
import type { ChildWord } from "../protocol/child-news.ts";
import type { ChildStart, LoggedEvent } from "../protocol/run-events.ts";
import { BackgroundChild } from "./background-child.ts";
import type { BackgroundNotes } from "./background-notes.ts";
import type { ChildReport, ChildWish } from "./child.ts";
import { listChildren, readChild } from "./child-log.ts";
import { toReport } from "./executors/in-process.ts";
import { createNews } from "./news.ts";
import type { DelegationNode } from "./node.ts";
import { findChildren } from "./past-children.ts";
import { type OpenQuestions, type Question, sendAnswer } from "./questions.ts";
import { adoptChild, orderChild, type Spawning } from "./spawn.ts";

export interface BackgroundParts {
  readonly context: RunContext;
  readonly node: DelegationNode;
  readonly questions: OpenQuestions;
  readonly clock: Clock;
  readonly known: BackgroundNotes;
  /** What a recorded run was told after this turn, where it is played again. */
  readonly recorded?:
    | ((turn: number, isFinal: boolean) => readonly ChildWord[] | undefined)
    | undefined;
}

/** What became of a call: its child has ended, or goes on without it, and may have asked something. */
export type Ran =
  | { readonly report: ChildReport }
  | { readonly report: undefined; readonly id: string; readonly question: string | undefined };

const MINUTE_MS = 60_000;
/** How long a child that was found again has to come back to its question: a process has to start first. */
const FOUND_MS = { in_process: 5000, child_process: 60_000, anywhere: 60_000 };

export class BackgroundChildren {
  readonly #parts: BackgroundParts;
  readonly #known: BackgroundNotes;
  readonly #news: ReturnType<typeof createNews>;
  readonly #children = new Map<string, BackgroundChild>();
  readonly #notes = new Map<string, { started: string[]; told: string[] }>();
  /** Questions that were answered here. */
  readonly #answered = new Set<string>();
  /** Those that another process had started. */
  readonly #found = new Set<string>();
  #restoring: Promise<void> | undefined;

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
    this.#known = parts.known;
    this.#news = createNews(parts.clock);
  }

  /** Those that were left by their calls, in the order they were started. */
  get all(): readonly BackgroundChild[] {
    return [...this.#children.values()].filter(({ isDetached }) => isDetached);
  }

  get runs(): OtherRuns {
    return this.#parts.context.runs;
  }

  readLog(): Promise<LoggedEvent[]> {
    return this.#parts.context.readLog();
  }

  /** All children of the run so far, those that calls waited for too. */
  async list(): Promise<JsonObject[]> {
    const asks = (id: string): string | undefined => this.#children.get(id)?.question?.text;
    return listChildren(await this.readLog(), asks);
  }

  noteOf(callKey: string): CallNote | undefined {
    return this.#notes.get(callKey);
  }

  /** A call has told its model of these. */
  note(callKey: string, marks: readonly string[]): void {
    this.#noteFor(callKey).told.push(...marks);
  }

  /** A call that is played again has told its model of these, once they have come to their ends too. */
  async noteRecorded(callKey: string, output: unknown): Promise<void> {
    const parsed = typeof output === "string" ? tryParseJson(output) : undefined;
    const ended = isJsonObject(parsed) ? parsed["ended"] : undefined;
    const ids = Array.isArray(ended) ? ended.filter(isJsonObject).map(({ id }) => String(id)) : [];
    const own = ids.map((id) => this.#toOwnId(id));
    await Promise.all(own.map((id) => this.#children.get(id)?.ended));
    this.note(callKey, own);
  }

  #noteFor(callKey: string): { started: string[]; told: string[] } {
    const known = this.#notes.get(callKey) ?? { started: [], told: [] };
    this.#notes.set(callKey, known);
    return known;
  }

  /** Runs a child for a call, which does not wait for it where it is a background child, or asks. */
  async run(wish: ChildWish, spawning: Spawning): Promise<Ran> {
    const { node, context } = this.#parts;
    const { callKey, key, executor } = spawning;
    const child = this.#create(`${context.id}/${key}`, wish.label);
    const { isBackground = false } = wish;
    // Let in at once or not at all: others may wait for a word of this run.
    const isUrgent = isBackground && executor === "in_process";
    const begun = orderChild(node, wish, { ...child.toSpawning(spawning), isUrgent }).then(
      (ordered) => {
        // It may end before its call knows that it has begun.
        child.isDetached = isBackground;
        return child.begin(ordered);
      },
    );
    this.#children.set(child.id, child);
    try {
      await begun;
    } catch (thrown) {
      this.#forget(child);
      throw thrown;
    }
    if (isBackground) return this.#leave(child, callKey);
    const question = await child.untilEndOrQuestion();
    if (question) {
      this.note(callKey, [question.key]);
      return this.#leave(child, callKey, question.text);
    }
    this.#forget(child);
    if (!child.report) throw child.failure ?? new Failure("internal", "The child has no ending.");
    return { report: child.report };
  }

  #create(id: string, label: string): BackgroundChild {
    const { node, questions, context } = this.#parts;
    const onNews = (): void => {
      this.#news.tell();
    };
    return new BackgroundChild({ node, questions, signal: context.signal, onNews }, { id, label });
  }

  #leave(child: BackgroundChild, callKey: string, question?: string): Ran {
    child.detach();
    this.#noteFor(callKey).started.push(child.id);
    return { report: undefined, id: child.id, question };
  }

  #forget(child: BackgroundChild): void {
    child.leaveCall();
    this.#children.delete(child.id);
  }

  restore(): Promise<void> {
    if (this.#known.toRestore.length === 0) return Promise.resolve();
    this.#restoring ??= this.#restoreAll();
    return this.#restoring;
  }

  async #restoreAll(): Promise<void> {
    const { context, node } = this.#parts;
    const log = await context.readLog();
    const working: Left[] = [];
    for (const id of this.#known.toRestore) working.push(...(await this.#find(id, log)));
    const starts = working.map(({ start }) => start);
    await findChildren(node, context, starts);
    for (const { call_key } of starts) {
      const beside = starts.filter((start) => start.call_key === call_key);
      node.account.family.announce(call_key, beside.length);
    }
    for (const left of working) await this.#goOn(left);
    this.#known.toRestore.length = 0;
    this.#restoring = undefined;
  }

  /** The child, if it works on; what one that has ended has spent is charged. */
  async #find(id: string, log: readonly LoggedEvent[]): Promise<Left[]> {
    const { context, node } = this.#parts;
    const { start, hasEnded } = readChild(id, log);
    const input = await context.runs.input(id);
    const child = this.#create(id, start?.label ?? id.slice(context.id.length + 1));
    this.#children.set(id, child);
    if (!start || input === undefined) {
      child.lose("Subagent execution failed: it was cut before it was written down. Ask again.");
      return [];
    }
    if (hasEnded) {
      const { events } = await context.runs.result(id);
      const report = toReport(id, events);
      const { spent } = report;
      const whole = { ...spent, children: spent.children + 1 };
      node.account.charge(whole);
      node.account.family.charge(whole);
      child.takeEnd(report);
      return [];
    }
    return [{ child, start, task: parseTask(input) }];
  }

  async #goOn({ child, start, task }: Left): Promise<void> {
    const { context, node } = this.#parts;
    const { requested } = start;
    this.#found.add(child.id);
    const key = child.id.slice(context.id.length + 1);
    const own = { callKey: start.call_key, key, executor: node.settings.executor };
    const spawning = child.toSpawning({ ...own, signal: context.signal });
    const timeoutMs = Number(start.effective["timeout_ms"]);
    child.detach();
    const ordered = adoptChild(node, { key, task, timeoutMs, requested }, spawning);
    // What is wrong with it is its report.
    await child.begin(ordered).catch(() => {});
  }

  async look(turn: number): Promise<readonly ChildWord[]> {
    return (await this.#replay(turn, false)) ?? this.unheard();
  }

  async settle(turn: number, stepKey: string): Promise<readonly ChildWord[]> {
    const { context } = this.#parts;
    const recorded = await this.#replay(turn, true);
    if (recorded) return recorded;
    await context.waiting(stepKey, async () => {
      while (this.#hasWork() && !this.unheard().some(({ kind }) => kind === "question")) {
        await this.#answerNobody();
        await this.#news.changed(MINUTE_MS, context.signal);
      }
    });
    return this.unheard();
  }

  #hasWork(): boolean {
    return this.all.some(({ envelope }) => envelope === undefined);
  }

  /** The model has read these questions and has given its answer: nobody will answer them. */
  async #answerNobody(): Promise<void> {
    for (const child of this.all) {
      const question = this.openQuestion(child);
      if (!question || !this.#known.told.has(question.key)) continue;
      await this.answer(question, null, `${question.key}/nobody`);
    }
  }

  /** What a child waits for that nobody has answered. */
  openQuestion({ question }: BackgroundChild): Question | undefined {
    return question && !this.#answered.has(question.key) ? question : undefined;
  }

  /** The same, for an answer: a child that was found again may be about to ask once more what it had asked. */
  async questionToAnswer(
    child: BackgroundChild,
    bounds: Omit<WaitBounds, "limitMs">,
  ): Promise<Question | undefined> {
    const hadAsked = [...this.#known.told].some((mark) => mark.startsWith(`${child.id}/tool:`));
    if (hadAsked && this.#found.has(child.id)) {
      const { settings } = this.#parts.node;
      const isSeen = (): boolean => child.question !== undefined || child.envelope !== undefined;
      await this.waitUntil(isSeen, { ...bounds, limitMs: FOUND_MS[settings.executor] });
    }
    return this.openQuestion(child);
  }

  async answer(question: Question, text: string | null, key: string): Promise<void> {
    this.#answered.add(question.key);
    await sendAnswer(this.#parts.context.runs, question, { text, key });
  }

  /** What was recorded is told again, once those it is about have come as far. */
  async #replay(turn: number, isFinal: boolean): Promise<readonly ChildWord[] | undefined> {
    const recorded = this.#parts.recorded?.(turn, isFinal);
    for (const { kind, child_id } of recorded ?? []) {
      if (kind === "report") await this.#children.get(this.#toOwnId(child_id))?.ended;
    }
    return recorded?.map((word) => {
      const child_id = this.#toOwnId(word.child_id);
      return { ...word, child_id, mark: word.kind === "report" ? child_id : word.mark };
    });
  }

  /** A run that is played again has another id, and its children the same places. */
  #toOwnId(id: string): string {
    return `${this.#parts.context.id}${id.slice(id.lastIndexOf("/"))}`;
  }

  unheard(): ChildWord[] {
    return this.all.flatMap((child) => [...this.#reportOf(child), ...this.#questionOf(child)]);
  }

  #reportOf({ id, label, envelope }: BackgroundChild): ChildWord[] {
    if (!envelope || this.#known.told.has(id)) return [];
    return [{ child_id: id, label, kind: "report", mark: id, text: JSON.stringify(envelope) }];
  }

  #questionOf({ id, label, question }: BackgroundChild): ChildWord[] {
    if (!question || this.#known.told.has(question.key)) return [];
    return [{ child_id: id, label, kind: "question", mark: question.key, text: question.text }];
  }

  /** Waits until `isDone`, or for so long. For calls. */
  async waitUntil(isDone: () => boolean, { limitMs, signal, callKey }: WaitBounds): Promise<void> {
    const { context, clock } = this.#parts;
    const endsAtMs = clock.now() + limitMs;
    await context.waiting(callKey, async () => {
      for (let left = limitMs; left > 0 && !isDone(); left = endsAtMs - clock.now()) {
        await this.#news.changed(left, signal);
      }
    });
  }

  async end(): Promise<LeftChildren> {
    const { context, recorded } = this.#parts;
    try {
      if (!context.signal.aborted) await this.restore();
    } catch {
      // What cannot be read is found by whoever looks after runs that nobody owns.
    }
    const open = this.all.filter(({ envelope }) => envelope === undefined);
    // What another process goes on with is not ended here; what is played again ends as it did.
    if (!context.isLost && !recorded)
      for (const child of open) child.stop("The run that started it has ended.");
    await Promise.all(open.map(({ ended }) => ended));
    const isStopped = (child: BackgroundChild): boolean =>
      isIn(open, child.id) || child.isStoppedWithRun;
    const unread = this.all.filter(
      (child) => this.#known.outstanding.has(child.id) && !isStopped(child),
    );
    return {
      stopped: this.all.filter(isStopped).map((child) => toName(child)),
      unread: unread.map((child) => toName(child, child.howEnded)),
    };
  }
}

/** A child that a past owner of the run has left at work. */
interface Left {
  readonly child: BackgroundChild;
  readonly start: ChildStart;
  readonly task: AgentTask;
}

interface WaitBounds {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** The call that waits. */
  readonly callKey: string;
}

function isIn(children: readonly BackgroundChild[], id: string): boolean {
  return children.some((child) => child.id === id);
}

function toName({ label, id }: BackgroundChild, how?: string): string {
  return `\`${label}\` (${how === undefined ? id : `${id}, ${how}`})`;
}
