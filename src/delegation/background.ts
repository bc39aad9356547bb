/**
 * The background children of a run.
 *
 * They are started as all children are, and have equal shares. While some of them work, one step of the run is open,
 * because their ends are written into its log at any time. The journal has notes of them: which call left which of
 * them running, and which report or question the model was told. After a takeover the new owner reads the notes again
 * and finds the children by them, after the last entry of the journal: only then is it known what is left for them to
 * spend.
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
import { type ChildQuestion, type OpenQuestions, sendAnswer } from "./questions.ts";
import type { Spawning } from "./run-child.ts";
import { adoptChild, orderChild } from "./spawn.ts";

export interface BackgroundParts {
  readonly context: RunContext;
  readonly node: DelegationNode;
  readonly questions: OpenQuestions;
  readonly clock: Clock;
  readonly known: BackgroundNotes;
  /** In a replay: what the recorded run was told after this turn. */
  readonly recorded?:
    | ((turn: number, isFinal: boolean) => readonly ChildWord[] | undefined)
    | undefined;
}

/** The result of a call: its child has ended, or continues without it, and may have asked something. */
export type RanChild =
  | { readonly report: ChildReport }
  | { readonly report: undefined; readonly id: string; readonly question: string | undefined };

const MINUTE_MS = 60_000;
/** How long a child that was found again has to repeat its question: a process has to start first. */
const FOUND_MS = { in_process: 5000, child_process: 60_000, anywhere: 60_000 };

export class BackgroundChildren {
  readonly #parts: BackgroundParts;
  readonly #known: BackgroundNotes;
  readonly #news: ReturnType<typeof createNews>;
  readonly #children = new Map<string, BackgroundChild>();
  readonly #notes = new Map<string, { started: string[]; told: string[] }>();
  /** Questions that were answered here. */
  readonly #answered = new Set<string>();
  /** Children that another process had started. */
  readonly #found = new Set<string>();
  #restoring: Promise<void> | undefined;

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
    this.#known = parts.known;
    this.#news = createNews(parts.clock);
  }

  /** The children that their calls left running, in the order they were started. */
  get all(): readonly BackgroundChild[] {
    return [...this.#children.values()].filter(({ isDetached }) => isDetached);
  }

  get runs(): OtherRuns {
    return this.#parts.context.runs;
  }

  readLog(): Promise<LoggedEvent[]> {
    return this.#parts.context.readLog();
  }

  /** All children of the run so far, also those that calls waited for. */
  async list(): Promise<JsonObject[]> {
    const asks = (id: string): string | undefined => this.#children.get(id)?.question?.text;
    return listChildren(await this.readLog(), asks);
  }

  noteOf(callKey: string): CallNote | undefined {
    return this.#notes.get(callKey);
  }

  /** Notes that a call has told its model of these. */
  note(callKey: string, marks: readonly string[]): void {
    this.#noteFor(callKey).told.push(...marks);
  }

  /** Notes that a replayed call has told its model of these, once they have reached their ends too. */
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

  /** Runs a child for a call. The call does not wait for it if it is a background child, or asks. */
  async run(wish: ChildWish, spawning: Spawning): Promise<RanChild> {
    const { node, context } = this.#parts;
    const { callKey, key, executor } = spawning;
    const child = this.#create(`${context.id}/${key}`, wish.label);
    const { isBackground = false } = wish;
    // Admitted at once or not at all: others may wait for a message of this run.
    const isUrgent = isBackground && executor === "in_process";
    const begun = orderChild(node, wish, { ...child.toSpawning(spawning), isUrgent }).then(
      (ordered) => {
        // It may end before its call learns that it has begun.
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

  #leave(child: BackgroundChild, callKey: string, question?: string): RanChild {
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
    for (const left of working) await this.#continueChild(left);
    this.#known.toRestore.length = 0;
    this.#restoring = undefined;
  }

  /** The child, if it still works; what an ended child has spent is charged. */
  async #find(id: string, log: readonly LoggedEvent[]): Promise<Left[]> {
    const { context, node } = this.#parts;
    const { start, hasEnded } = readChild(id, log);
    const input = await context.runs.input(id);
    const child = this.#create(id, start?.label ?? id.slice(context.id.length + 1));
    this.#children.set(id, child);
    if (!start || input === undefined) {
      child.lose(
        "Subagent execution failed: it was interrupted before it was in the record. Call it again.",
      );
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

  async #continueChild({ child, start, task }: Left): Promise<void> {
    const { context, node } = this.#parts;
    const { requested } = start;
    this.#found.add(child.id);
    const key = child.id.slice(context.id.length + 1);
    const own = { callKey: start.call_key, key, executor: node.settings.executor };
    const spawning = child.toSpawning({ ...own, signal: context.signal });
    const timeoutMs = Number(start.effective["timeout_ms"]);
    child.detach();
    const ordered = adoptChild(node, { key, task, timeoutMs, requested }, spawning);
    // A failure to start is its report.
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

  /** The model has read these questions and has given its answer: they will not be answered. */
  async #answerNobody(): Promise<void> {
    for (const child of this.all) {
      const question = this.openQuestion(child);
      if (!question || !this.#known.told.has(question.key)) continue;
      await this.answer(question, null, `${question.key}/nobody`);
    }
  }

  /** The open question of a child that has not been answered. */
  openQuestion({ question }: BackgroundChild): ChildQuestion | undefined {
    return question && !this.#answered.has(question.key) ? question : undefined;
  }

  /** Like `openQuestion`, for an answer: a child that was found again may be about to repeat its question. */
  async questionToAnswer(
    child: BackgroundChild,
    bounds: Omit<WaitBounds, "limitMs">,
  ): Promise<ChildQuestion | undefined> {
    const hadAsked = [...this.#known.told].some((mark) => mark.startsWith(`${child.id}/tool:`));
    if (hadAsked && this.#found.has(child.id)) {
      const { settings } = this.#parts.node;
      const isSeen = (): boolean => child.question !== undefined || child.envelope !== undefined;
      await this.waitUntil(isSeen, { ...bounds, limitMs: FOUND_MS[settings.executor] });
    }
    return this.openQuestion(child);
  }

  async answer(question: ChildQuestion, text: string | null, key: string): Promise<void> {
    this.#answered.add(question.key);
    await sendAnswer(this.#parts.context.runs, question, { text, key });
  }

  /** In a replay, tells what was recorded, once the children have reached the same point. */
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

  /** A replayed run has another id, and its children the same places below it. */
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

  /** Waits until `isDone`, or until the time limit. For calls. */
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
      // If it cannot be read, the process that looks after runs without an owner finds it.
    }
    const open = this.all.filter(({ envelope }) => envelope === undefined);
    // A run that another process continues is not ended here; a replayed child ends as it did.
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

/** A child that an earlier owner of the run has left at work. */
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
