/**
 * The agents that a run has started: who works, who waits, who has answered (`agent-states.ts`). Found again from
 * the run's log after a restart, and from the conversation in a later request.
 *
 * Answers of the client to agents that wait are taken into the log of the team's head, in one write, and handed
 * down (`team-post.ts`); each run writes those that are for it or for its agents into its own log. So every log is
 * enough to go on from.
 *
 * What no call waits for (an agent's end, a message) is an errand: errands are done one after the other, and what
 * goes wrong with one is the failure of whoever looks next, so of the run.
 */

import { parseTask } from "../../agent/task.ts";
import type { Clock } from "../../base/clock.ts";
import { type Failure, toFailure } from "../../base/failure.ts";
import type { ChildReport, ChildWish } from "../../delegation/child.ts";
import { toReport } from "../../delegation/executors/in-process.ts";
import { createNews, type News } from "../../delegation/news.ts";
import type { DelegationNode } from "../../delegation/node.ts";
import { findChildren } from "../../delegation/past-children.ts";
import type { Engine, RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { ChildStart, RunEvent } from "../../protocol/run-events.ts";
import { ROOT } from "../fold/agent-name.ts";
import { type AgentChange, type AgentState, toChange, toNextState } from "./agent-states.ts";
import { judgeAnswers } from "./client-answers.ts";
import { type Crew, createCrew, type Member } from "./crew.ts";
import { LetterBox, messageIds } from "./letter-box.ts";
import {
  findReady,
  findTasks,
  isPaused,
  toAgentItems,
  toOwnItems,
  toTaskMessage,
} from "./team-history.ts";
import { findLeft, nameIn, RESUMED, readTeamLog, type TeamLog } from "./team-log.ts";
import {
  type InjectedAnswers,
  type TakenAnswer,
  toAnswerText,
  toLetterId,
  toMessageItem,
} from "./team-messages.ts";
import { TeamPost } from "./team-post.ts";

export interface RosterParts {
  /** Whose team it is. */
  readonly me: string;
  readonly context: RunContext;
  readonly engine: Pick<Engine, "follow" | "input" | "result">;
  readonly node: DelegationNode;
  readonly clock: Clock;
  /** The conversation before this run's answer. */
  readonly before: readonly Item[];
  /** The last number of the head's log whose answers are in there. */
  readonly heard: number;
  /** The run of an agent that begins with these items. */
  readonly toWish: (name: string, begins: Pick<NewTask, "items" | "heard">) => ChildWish;
}

interface NewTask {
  readonly items: readonly Item[];
  /** The last number of the head's log whose answers are in the items. */
  readonly heard: number;
  /** Null for an agent that goes on with the client's answers. */
  readonly message: string | null;
  readonly callKey: string;
}

export class Roster {
  readonly box: LetterBox;
  readonly post: TeamPost;
  readonly #crew: Crew;
  readonly #news: News;
  readonly #parts: RosterParts;
  readonly #members = new Map<string, Member>();
  readonly #states = new Map<string, AgentState>();
  readonly #lastTasks = new Map<string, string>();
  /** How many runs each agent had in this one. */
  readonly #runs = new Map<string, number>();
  /** The agents that calls have given something to do: a call that is made again does not do it again. */
  readonly #calls = new Map<string, string>();
  readonly #queued = new Map<string, string[]>();
  /** The client's messages that the log tells of: a run that was taken over gets them again. */
  readonly #handled = new Set<string>();
  #heard: number;
  /** What went wrong with an errand. */
  #failure: Failure | undefined;
  /** Nobody is started any more, and no answers are taken. */
  #isClosed = false;
  #isOver = false;

  constructor(parts: RosterParts) {
    const { me, context, engine, node } = parts;
    this.#parts = parts;
    this.#heard = parts.heard;
    this.#news = createNews(parts.clock);
    this.#crew = createCrew({ context, engine, node });
    this.box = new LetterBox(me);
    this.post = new TeamPost({
      ...{ me, context, box: this.box },
      runOf: (name) => this.#members.get(name)?.id,
      onInjected: (answers) => this.#takeInjected(answers),
      onTaken: (answer) => this.#takeHanded(answer),
      onLetter: () => this.#news.tell(),
    });
  }

  /** Whether any agent was started in this run. */
  get isUsed(): boolean {
    return this.#runs.size > 0;
  }

  get isWorking(): boolean {
    return this.#members.size > 0;
  }

  /** Whether nobody works, and nobody is about to. */
  get isIdle(): boolean {
    return this.#members.size === 0 && this.#news.jobs === 0;
  }

  get states(): ReadonlyMap<string, AgentState> {
    return this.#states;
  }

  get changes(): number {
    return this.#news.changes;
  }

  lastTask(name: string): string | undefined {
    return this.#lastTasks.get(name);
  }

  startedBy(callKey: string): string | undefined {
    return this.#calls.get(callKey);
  }

  /** Everything that was said so far, before this answer and in it. */
  async look(): Promise<Pick<NewTask, "items" | "heard">> {
    const { output, heard } = await this.log();
    const { before, heard: first } = this.#parts;
    return { items: [...before, ...output], heard: Math.max(heard, first) };
  }

  async log(): Promise<TeamLog> {
    return readTeamLog(await this.#parts.context.readLog(), this.#parts.me);
  }

  /** Resolves when something has happened, or the time is over. Rejects with what went wrong meanwhile. */
  async changed(limitMs: number, signal: AbortSignal): Promise<void> {
    await this.#news.changed(limitMs, signal);
    if (this.#failure) throw this.#failure;
  }

  /** Writes to the run's log from outside of any call. Returns the number of the last event. */
  async emit(events: readonly RunEvent[]): Promise<number> {
    return await this.#crew.emit(events);
  }

  /**
   * Agents of earlier answers, and those that this run has started before it was taken over. Those that
   * have the client's answers go on. Takes messages from then on. Run code.
   */
  async restore(): Promise<void> {
    // What ends meanwhile waits until all are found.
    await this.#news.inOrder(() => this.#restore());
    this.post.listen((job) => this.#doLater(job)).catch((thrown) => this.#fail(thrown));
  }

  async #restore(): Promise<void> {
    const { me, before } = this.#parts;
    const ready = findReady(before, me);
    for (const { name, message } of findTasks(before, me)) {
      this.#lastTasks.set(name, message);
      const own = toOwnItems(toAgentItems(before, name, me), name);
      const waits = isPaused(own) || ready.includes(name);
      this.#states.set(name, waits ? "waiting_for_client" : "completed");
    }
    const log = await this.log();
    this.box.mark([...messageIds(before), ...log.delivered]);
    for (const key of log.handled) this.#handled.add(key);
    this.post.remember(log.taken);
    this.#heard = Math.max(this.#heard, log.heard);
    const tasks = findTasks(log.output, me);
    for (const { name, message } of tasks) this.#lastTasks.set(name, message);
    const working = log.starts.filter(({ child_id }) => !log.ends.has(child_id));
    await findChildren(this.#parts.node, this.#parts.context, working);
    for (const start of log.starts) await this.#takeUp(start, log);
    for (const [name, left] of findLeft(tasks, log.starts)) {
      if (this.#members.has(name)) this.#queued.set(name, left);
    }
    await this.#resume();
  }

  /** Stops taking the client's answers. False, and they are taken on, while an agent works or an errand is open. */
  tryClose(): boolean {
    this.#isClosed ||= this.isIdle;
    return this.#isClosed;
  }

  /** Starts an agent, or has one go on. Resolves when it is written down. */
  async start(name: string, { items, heard, message, callKey }: NewTask): Promise<void> {
    const { me, toWish } = this.#parts;
    const count = (this.#runs.get(name) ?? 0) + 1;
    const key = `${name.slice(me.length + 1)}~${count}`;
    const member = await this.#crew.start({ name, key, callKey }, toWish(name, { items, heard }));
    this.#runs.set(name, count);
    this.#calls.set(callKey, name);
    if (message !== null) this.#lastTasks.set(name, message);
    await this.#join(member);
  }

  /** Another task for an agent that is there; it waits while the agent works. */
  async follow(name: string, message: string, callKey: string): Promise<void> {
    if (this.#members.has(name)) {
      this.#queued.set(name, [...(this.#queued.get(name) ?? []), message]);
      this.#lastTasks.set(name, message);
      return;
    }
    await this.#startNext(name, message, callKey);
  }

  async #startNext(name: string, message: string, callKey: string): Promise<void> {
    const { me } = this.#parts;
    const { items: said, heard } = await this.look();
    const known = toAgentItems(said, name, me);
    const letters = this.box.to(name).map(toMessageItem);
    const had = new Set(messageIds(known));
    const unread = letters.filter((item) => !messageIds([item]).some((id) => had.has(id)));
    const items = [...known, ...unread, toTaskMessage(message)];
    await this.start(name, { items, heard, message, callKey });
  }

  /** False for one that does nothing. */
  stop(name: string): boolean {
    const member = this.#members.get(name);
    this.#queued.delete(name);
    member?.stop();
    return member !== undefined;
  }

  /** Ends all of them; nobody is started any more. */
  stopAll(): void {
    this.#isClosed = true;
    for (const name of this.#members.keys()) this.stop(name);
  }

  /** Resolves when nobody works any more. Rejects with what went wrong meanwhile. */
  async settled(signal: AbortSignal): Promise<void> {
    while (!this.isIdle) await this.changed(MINUTE_MS, signal);
    if (this.#failure) throw this.#failure;
  }

  #change(name: string, change: AgentChange): void {
    this.#states.set(name, toNextState(this.#states.get(name), change));
  }

  /** An errand: no call waits for it, and the roster owns it. */
  #doLater(job: () => Promise<void>): void {
    this.#news.inOrder(job).catch((thrown) => this.#fail(thrown));
  }

  /** Nobody waits for anything any more: what is left of the messages ends with the run. */
  leave(): void {
    this.#isOver = true;
  }

  /** Of a run that is over, or that another process has, nothing can go wrong any more. */
  #fail(thrown: unknown): void {
    const { context } = this.#parts;
    if (context.isLost || context.signal.aborted || this.#isOver) return;
    this.#failure ??= toFailure(thrown);
    this.#news.tell();
  }

  /** Takes the client's answers into the log, or says there why not. All of them or none. Of the head alone. */
  async #takeInjected({ key, items }: InjectedAnswers): Promise<void> {
    if (this.#handled.has(key)) return;
    this.#handled.add(key);
    const { before, clock } = this.#parts;
    const { output } = await this.log();
    const answers = { key, items, isLate: this.#isClosed };
    const events = judgeAnswers({ before, output }, answers, clock.now());
    const last = await this.emit(events);
    const first = last - events.length + 1;
    const taken = events.flatMap((event, at) =>
      event.type === "client_input" ? [{ seq: first + at, event }] : [],
    );
    await this.post.note(taken);
    await this.#resume();
  }

  /** Writes down what the client has answered this run's agent, or one below it. Not of the head. */
  async #takeHanded(answer: TakenAnswer): Promise<void> {
    const { seq, event } = answer;
    if (this.#parts.me === ROOT || this.#isClosed || seq <= this.#heard) return;
    this.#heard = seq;
    await this.emit([{ ...event, root_seq: seq }]);
    await this.post.note([answer]);
    await this.#resume();
  }

  /** Its end is an errand, once it has come. */
  async #join(member: Member): Promise<void> {
    const { name } = member;
    this.#members.set(name, member);
    this.#change(name, "starts");
    // Its run may have been begun while all were ended.
    if (this.#isClosed) member.stop();
    member.report.then(
      (report) => this.#doLater(() => this.#leave(member, report)),
      (thrown) => this.#lose(member, thrown),
    );
    await this.post.handAll(name);
  }

  async #leave(member: Member, report: ChildReport): Promise<void> {
    await this.#finish(member, report);
    await this.#resume();
  }

  /** The agent's run cannot be told to its end: this run is over or another process has it, or it is a defect. */
  #lose(member: Member, thrown: unknown): void {
    this.#members.delete(member.name);
    this.#change(member.name, "fails");
    this.#fail(thrown);
    this.#news.tell();
  }

  /** Those that have all their answers go on, and those that waited for one of them. */
  async #resume(): Promise<void> {
    if (![...this.#states.values()].includes("waiting_for_client")) return;
    const { me } = this.#parts;
    const { items, heard } = await this.look();
    for (const name of findReady(items, me)) {
      if (this.#isClosed || this.#states.get(name) !== "waiting_for_client") continue;
      const callKey = `${RESUMED}:${name}:${this.#runs.get(name) ?? 0}`;
      const task = { items: toAgentItems(items, name, me), heard, message: null, callKey };
      try {
        await this.start(name, task);
      } catch (thrown) {
        this.#refuse(name, callKey, toFailure(thrown));
      }
    }
  }

  /** An agent that cannot go on, because nothing is left of its budget, has failed; another failure is the run's. */
  #refuse(name: string, callKey: string, failure: Failure): void {
    if (failure.code !== "budget_exceeded" && failure.code !== "forbidden") throw failure;
    this.#change(name, "fails");
    this.#addAnswer(name, `${this.#parts.context.id}/${callKey}`, `Error: ${failure.message}`);
  }

  /** It stays among those at work until its next task has begun: another task for it waits in the queue. */
  async #finish({ name, id }: Pick<Member, "name" | "id">, report: ChildReport): Promise<void> {
    const change = toChange(report);
    this.#change(name, change);
    if (change === "answers" || change === "fails") this.#addAnswer(name, id, toAnswerText(report));
    const [next, ...rest] = change === "asks" ? [] : (this.#queued.get(name) ?? []);
    if (next === undefined) {
      this.#members.delete(name);
      return;
    }
    this.#queued.set(name, rest);
    await this.#startNext(name, next, `${id}/next`);
  }

  #addAnswer(author: string, id: string, text: string): void {
    const recipient = this.#parts.me;
    this.box.add({ id: toLetterId(id), author, recipient, text });
    this.#news.tell();
  }

  /** An agent that this run had started before another process, or this one, took it up again. */
  async #takeUp(start: ChildStart, { ends, told }: TeamLog): Promise<void> {
    const { engine, context } = this.#parts;
    const { child_id: id, call_key: callKey } = start;
    const name = nameIn(start) ?? "";
    const input = await engine.input(id);
    // One that was never written down is started again by its call, which is made again.
    if (input === undefined) return;
    this.#runs.set(name, (this.#runs.get(name) ?? 0) + 1);
    this.#calls.set(callKey, name);
    const after = told.get(id) ?? -1;
    const key = id.slice(context.id.length + 1);
    if (!ends.has(id)) {
      const timeoutMs = Number(start.effective["timeout_ms"]);
      const past = { task: parseTask(input), timeoutMs, requested: start.requested };
      await this.#join(this.#crew.adopt({ name, key, callKey, ...past, told: after }));
      return;
    }
    const { events } = await engine.result(id);
    const report = toReport(id, events);
    const { account } = this.#parts.node;
    const whole = { ...report.spent, children: report.spent.children + 1 };
    account.charge(whole);
    account.family.charge(whole);
    await this.#crew.tell(name, id, after);
    this.#change(name, "starts");
    await this.#finish({ name, id }, report);
  }
}

const MINUTE_MS = 60_000;
