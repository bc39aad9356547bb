/**
 * The agents that a run has started: which work, which wait, which have answered (`agent-states.ts`). After a restart
 * they are found from the run's log, and in a later request from the conversation.
 *
 * The client's answers to waiting agents are taken into the log of the team's first run, in one write, and passed
 * down (`team-post.ts`); each run writes those for itself or its agents into its own log. So each log is enough to
 * continue from.
 *
 * Work that no call waits for (an agent's end, a message) is an errand. Errands run one after the other; a failed
 * errand fails the next operation on the roster, and so the run.
 */

import { parseTask } from "../../agent/task.ts";
import type { Clock } from "../../base/clock.ts";
import { type Failure, toFailure } from "../../base/failure.ts";
import type { ChildReport, ChildWish } from "../../delegation/child.ts";
import { toReport } from "../../delegation/executors/in-process.ts";
import { type ChildrenNews, createNews } from "../../delegation/news.ts";
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
  toAgentItems,
  toTaskMessage,
  waitsForClient,
} from "./team-history.ts";
import { findLeft, nameIn, RESUMED, readTeamLog, type TeamLog } from "./team-log.ts";
import {
  type InjectedAnswers,
  type TakenAnswer,
  toAnswerText,
  toLetterId,
} from "./team-messages.ts";
import { TeamPost } from "./team-post.ts";

export interface RosterParts {
  /** The name of the agent whose team it is. */
  readonly me: string;
  readonly context: RunContext;
  readonly engine: Pick<Engine, "follow" | "input" | "result">;
  readonly node: DelegationNode;
  readonly clock: Clock;
  /** The conversation before this run's answer. */
  readonly before: readonly Item[];
  /** The last number of the first run's log whose answers are in it. */
  readonly heard: number;
  /** The run of an agent that begins with these items. */
  readonly toWish: (name: string, begins: Pick<NewTask, "items" | "heard">) => ChildWish;
}

interface NewTask {
  readonly items: readonly Item[];
  /** The last number of the first run's log whose answers are in the items. */
  readonly heard: number;
  /** Null for an agent that continues with the client's answers. */
  readonly message: string | null;
  readonly callKey: string;
}

export class Roster {
  readonly box: LetterBox;
  readonly post: TeamPost;
  readonly #crew: Crew;
  readonly #news: ChildrenNews;
  readonly #parts: RosterParts;
  readonly #members = new Map<string, Member>();
  readonly #states = new Map<string, AgentState>();
  readonly #lastTasks = new Map<string, string>();
  /** The number of runs that each agent had in this one. */
  readonly #runs = new Map<string, number>();
  /** The agents that calls have given a task: a repeated call does not give it again. */
  readonly #calls = new Map<string, string>();
  readonly #queued = new Map<string, string[]>();
  /** The client's messages that are in the log: a run that was taken over gets them again. */
  readonly #handled = new Set<string>();
  #heard: number;
  /** The failure of an errand. */
  #failure: Failure | undefined;
  /** True once no agent is started any more and no answers are taken. */
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
      me,
      context,
      box: this.box,
      runOf: (name) => this.#members.get(name)?.id,
      onInjected: (answers) => this.#takeInjected(answers),
      onTaken: (answer) => this.#takeHanded(answer),
      onLetter: () => this.#news.tell(),
    });
  }

  /** True if any agent was started in this run. */
  get isUsed(): boolean {
    return this.#runs.size > 0;
  }

  get isWorking(): boolean {
    return this.#members.size > 0;
  }

  /** True if no agent works or is about to. */
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

  /** Resolves when something has changed, or the time is over. Rejects if an errand has failed. */
  async changed(limitMs: number, signal: AbortSignal): Promise<void> {
    await this.#news.changed(limitMs, signal);
    if (this.#failure) throw this.#failure;
  }

  /** Writes to the run's log outside of any call. Returns the number of the last event. */
  async emit(events: readonly RunEvent[]): Promise<number> {
    return await this.#crew.emit(events);
  }

  /** Finds agents of earlier answers and of this run before a takeover, and takes messages from then on. Run code. */
  async restore(): Promise<void> {
    // Ends that come meanwhile wait until all agents are found.
    await this.#news.inOrder(() => this.#restore());
    this.post.listen((job) => this.#doLater(job)).catch((thrown) => this.#fail(thrown));
  }

  async #restore(): Promise<void> {
    const { me, before } = this.#parts;
    const ready = findReady(before, me);
    for (const { name, message } of findTasks(before, me)) {
      this.#lastTasks.set(name, message);
      const waits = waitsForClient(before, name, me) || ready.includes(name);
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

  /** Stops taking client answers. False, and still open, while an agent or an errand is at work. */
  tryClose(): boolean {
    this.#isClosed ||= this.isIdle;
    return this.#isClosed;
  }

  /** Starts an agent, or lets one continue. Resolves when it is written down. */
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

  /** Gives an existing agent another task, which waits while the agent works. */
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
    const items = [...known, ...this.box.unsaid(name, known), toTaskMessage(message)];
    await this.start(name, { items, heard, message, callKey });
  }

  /** False if the agent is not working. */
  stop(name: string): boolean {
    const member = this.#members.get(name);
    this.#queued.delete(name);
    member?.stop();
    return member !== undefined;
  }

  /** Ends all agents; none is started any more. */
  stopAll(): void {
    this.#isClosed = true;
    for (const name of this.#members.keys()) this.stop(name);
  }

  /** Resolves when no agent works any more. Rejects if an errand has failed. */
  async settled(signal: AbortSignal): Promise<void> {
    while (!this.isIdle) await this.changed(MINUTE_MS, signal);
    if (this.#failure) throw this.#failure;
  }

  #change(name: string, change: AgentChange): void {
    this.#states.set(name, toNextState(this.#states.get(name), change));
  }

  /** Runs an errand: no call waits for it, and the roster owns it. */
  #doLater(job: () => Promise<void>): void {
    this.#news.inOrder(job).catch((thrown) => this.#fail(thrown));
  }

  /** Nothing waits for messages any more: the remaining ones end with the run. */
  leave(): void {
    this.#isOver = true;
  }

  /** Ignored once the run is over or another process owns it. */
  #fail(thrown: unknown): void {
    const { context } = this.#parts;
    if (context.isLost || context.signal.aborted || this.#isOver) return;
    this.#failure ??= toFailure(thrown);
    this.#news.tell();
  }

  /** Logs the client's answers, all of them or none, or why not. Only in the first run. */
  async #takeInjected({ key, items }: InjectedAnswers): Promise<void> {
    if (this.#handled.has(key)) return;
    this.#handled.add(key);
    const { before, clock } = this.#parts;
    const { output } = await this.log();
    const answers = { key, items, isLate: this.#isClosed };
    const events = judgeAnswers({ before, output }, answers, clock.now());
    const first = (await this.emit(events)) - events.length + 1;
    const taken = events.flatMap((event, at) =>
      event.type === "client_input" ? [{ seq: first + at, event }] : [],
    );
    await this.post.note(taken);
    await this.#resume();
  }

  /** Logs client answers for this run's agent or one below it. Not in the first run. */
  async #takeHanded(answer: TakenAnswer): Promise<void> {
    const { seq, event } = answer;
    if (this.#parts.me === ROOT || this.#isClosed || seq <= this.#heard) return;
    this.#heard = seq;
    await this.emit([{ ...event, root_seq: seq }]);
    await this.post.note([answer]);
    await this.#resume();
  }

  /** Follows a member. Its end is handled as an errand. */
  async #join(member: Member): Promise<void> {
    const { name } = member;
    this.#members.set(name, member);
    this.#change(name, "starts");
    // The member's run may have begun while all were being ended.
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

  /** Handles a log that cannot be read to its end: this run is over or lost, or it is a defect. */
  #lose(member: Member, thrown: unknown): void {
    this.#members.delete(member.name);
    this.#change(member.name, "fails");
    this.#fail(thrown);
    this.#news.tell();
  }

  /** Agents that have all their answers continue, and so do those that waited for one of them. */
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

  /** An agent without budget to continue has failed; any other failure fails the run. */
  #refuse(name: string, callKey: string, failure: Failure): void {
    if (failure.code !== "budget_exceeded" && failure.code !== "forbidden") throw failure;
    this.#change(name, "fails");
    this.#addAnswer(name, `${this.#parts.context.id}/${callKey}`, `Error: ${failure.message}`);
  }

  /** The agent counts as working until its next task has begun: another task for it waits in the queue. */
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
    this.box.add({ id: toLetterId(id), author, recipient: this.#parts.me, text });
    this.#news.tell();
  }

  /** An agent that this run had started before this or another process took the run over. */
  async #takeUp(start: ChildStart, { ends, told }: TeamLog): Promise<void> {
    const { engine, context } = this.#parts;
    const { child_id: id, call_key: callKey } = start;
    const name = nameIn(start) ?? "";
    const input = await engine.input(id);
    // If it was never written down, the repeated call starts it again.
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
