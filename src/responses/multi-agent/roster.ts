/**
 * The agents that a run has started: who works, who waits, who has answered. Found again from the run's
 * log after a restart, and from the conversation in a later request.
 *
 * Answers of the client to agents that wait are taken into the log of the team's head, in one write;
 * those further down hear of them there, and write what is for their own agents into their logs. So
 * every log is enough to go on from.
 */

import { parseTask } from "../../agent/task.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { ChildReport, ChildWish } from "../../delegation/child.ts";
import { toReport } from "../../delegation/executors/in-process.ts";
import { createNews, type News } from "../../delegation/news.ts";
import type { DelegationNode } from "../../delegation/node.ts";
import { findChildren } from "../../delegation/past-children.ts";
import type { Engine, RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { ChildStart, RunEvent } from "../../protocol/run-events.ts";
import { isBelow, ROOT } from "../fold/agent-name.ts";
import { toClientInputs } from "./client-answers.ts";
import { type Crew, createCrew, type Member } from "./crew.ts";
import type { InjectedAnswers } from "./injected-answers.ts";
import {
  findReady,
  findTasks,
  isPaused,
  toAgentItems,
  toOwnItems,
  toTaskMessage,
} from "./team-history.ts";
import { nameIn, readTeamLog, type TeamLog } from "./team-log.ts";
import { createMail, type Letter, type Mail, toMessageItem } from "./team-mail.ts";

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

type Status = "running" | "completed" | "failed" | "interrupted" | "waiting_for_client";

interface NewTask {
  readonly items: readonly Item[];
  /** The last number of the head's log whose answers are in the items. */
  readonly heard: number;
  /** Null for an agent that goes on with the client's answers. */
  readonly message: string | null;
  readonly callKey: string;
}

export class Roster {
  readonly crew: Crew;
  readonly mail: Mail;
  readonly news: News;
  readonly #parts: RosterParts;
  readonly #members = new Map<string, Member>();
  readonly #statuses = new Map<string, Status>();
  readonly #lastTasks = new Map<string, string>();
  /** How many runs each agent had in this one. */
  readonly #runs = new Map<string, number>();
  /** The agents that calls have given something to do: a call that is made again does not do it again. */
  readonly #calls = new Map<string, string>();
  readonly #queued = new Map<string, string[]>();
  readonly #answers: Letter[] = [];
  readonly #delivered = new Set<string>();
  #heard: number;
  #isRestored = false;
  /** Nobody is started any more, and no answers are taken. */
  #isClosed = false;

  constructor(parts: RosterParts) {
    const { context, engine, node } = parts;
    this.#parts = parts;
    this.#heard = parts.heard;
    this.news = createNews(parts.clock);
    this.crew = createCrew({ context, engine, node });
    const [rootId = context.id] = context.id.split("/");
    this.mail = createMail(engine, rootId);
  }

  /** Whether any agent was started in this run. */
  get isUsed(): boolean {
    return this.#runs.size > 0;
  }

  get running(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** Whether nobody works, and nobody is about to. */
  get isIdle(): boolean {
    return this.#members.size === 0 && this.news.jobs === 0;
  }

  get statuses(): ReadonlyMap<string, Status> {
    return this.#statuses;
  }

  lastTask(name: string): string | undefined {
    return this.#lastTasks.get(name) ?? this.mail.agents.get(name);
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

  /**
   * Agents of earlier answers, and those that this run has started before it was taken over. Those that
   * have the client's answers go on.
   */
  async restore(): Promise<void> {
    const { me, before } = this.#parts;
    const ready = findReady(before, me);
    for (const { name, message } of findTasks(before, me)) {
      this.#lastTasks.set(name, message);
      const own = toOwnItems(toAgentItems(before, name, me), name);
      const waits = isPaused(own) || ready.includes(name);
      this.#statuses.set(name, waits ? "waiting_for_client" : "completed");
    }
    const log = await this.log();
    for (const id of [...messageIds(before), ...log.delivered]) this.#delivered.add(id);
    const tasks = findTasks(log.output, me);
    for (const { name, message } of tasks) this.#lastTasks.set(name, message);
    const working = log.starts.filter(({ child_id }) => !log.ends.has(child_id));
    await findChildren(this.#parts.node, this.#parts.context, working);
    for (const start of log.starts) await this.#takeUp(start, log);
    this.#queueLeft(tasks, log);
    this.#heard = Math.max(this.#heard, log.heard);
    this.#isRestored = true;
    this.#hear();
    await this.#resume();
  }

  /** Hears from here on of what others send. */
  listen(): void {
    this.mail.start(() => {
      this.#hear();
      this.news.tell();
    });
  }

  /** Takes the client's answers into the log, or says there why not. All of them or none. Of the head alone. */
  async take(answers: InjectedAnswers): Promise<void> {
    await this.news.inOrder(async () => {
      const { output } = await this.log();
      await this.crew.emit(this.#judge(answers, output));
      void this.#resume();
    });
  }

  #judge({ key, items }: InjectedAnswers, output: readonly Item[]): RunEvent[] {
    const { before, clock } = this.#parts;
    const at_ms = clock.now();
    try {
      const inputs = toClientInputs({ before, output }, items, at_ms);
      if (this.#isClosed) throw new Failure("conflict", "The response has come to its end.");
      return inputs.map((input) => ({ ...input, key }));
    } catch (thrown) {
      const { code, message, param } = toFailure(thrown);
      return [{ type: "client_refused", key, error: { code, message, param }, at_ms }];
    }
  }

  /** No answers are taken from here on, unless somebody works or answers are on their way: false then. */
  close(): boolean {
    this.#isClosed ||= this.isIdle;
    return this.#isClosed;
  }

  /** Starts an agent, or has one go on. Resolves when it is written down. */
  async start(name: string, { items, heard, message, callKey }: NewTask): Promise<void> {
    const { me, toWish } = this.#parts;
    this.listen();
    const count = (this.#runs.get(name) ?? 0) + 1;
    const key = `${name.slice(me.length + 1)}~${count}`;
    const member = await this.crew.start({ name, key, callKey }, toWish(name, { items, heard }));
    this.#runs.set(name, count);
    this.#calls.set(callKey, name);
    if (message !== null) this.#lastTasks.set(name, message);
    this.#join(member, key);
  }

  /** Another task for an agent that is there; it waits while the agent works. */
  async follow(name: string, message: string, callKey: string): Promise<void> {
    if (this.#members.has(name)) {
      this.#queued.set(name, [...(this.#queued.get(name) ?? []), message]);
      this.#lastTasks.set(name, message);
      return;
    }
    const { me } = this.#parts;
    const { items: said, heard } = await this.look();
    const known = toAgentItems(said, name, me);
    const letters = this.mail.to(name).map(toMessageItem);
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
    for (const name of this.running) this.stop(name);
  }

  /** Resolves when nobody works any more. */
  async settled(signal: AbortSignal): Promise<void> {
    while (!this.isIdle) await this.news.changed(MINUTE_MS, signal);
  }

  /** What has come for this agent and was not given to it yet. */
  letters(): Letter[] {
    const all = [...this.#answers, ...this.mail.to(this.#parts.me)];
    return all.filter(({ id }) => !this.#delivered.has(id));
  }

  /** Those, as items; they count as given. */
  deliver(): Item[] {
    const letters = this.letters();
    for (const { id } of letters) this.#delivered.add(id);
    return letters.map(toMessageItem);
  }

  #join(member: Member, key: string): void {
    const { name } = member;
    this.#members.set(name, member);
    this.#statuses.set(name, "running");
    const id = `${this.#parts.context.id}/${key}`;
    // Its run may have been begun while all were ended.
    if (this.#isClosed) member.stop();
    member.report
      .then((report) => this.news.inOrder(() => this.#finish(name, id, report)))
      // The run is over, or another process has it: nobody waits for this agent here.
      .catch(() => this.#statuses.set(name, "failed"))
      .finally(() => {
        if (this.#members.get(name) === member) this.#members.delete(name);
        void this.#resume();
        this.news.tell();
      });
  }

  /** Writes down what the client has answered agents below the head, of those of this run. */
  #hear(): void {
    const { me } = this.#parts;
    if (me === ROOT || !this.#isRestored || this.#isClosed) return;
    const news = this.mail.answers.filter(
      ({ seq, event: { agent } }) => seq > this.#heard && (agent === me || isBelow(agent, me)),
    );
    const last = news.at(-1);
    if (!last) return;
    this.#heard = last.seq;
    const events = news.map(({ seq, event }) => ({ ...event, root_seq: seq }));
    this.news
      .inOrder(async () => {
        await this.crew.emit(events);
        void this.#resume();
      })
      // The run is over, or another process has it.
      .catch(() => {});
  }

  /** Those that have all their answers go on, and those that waited for one of them. Never rejects. */
  async #resume(): Promise<void> {
    if (![...this.#statuses.values()].includes("waiting_for_client")) return;
    const { me } = this.#parts;
    const resumed = this.news.inOrder(async () => {
      const { items, heard } = await this.look();
      for (const name of findReady(items, me)) {
        if (this.#isClosed || this.#statuses.get(name) !== "waiting_for_client") continue;
        const callKey = `${RESUMED}:${name}:${this.#runs.get(name) ?? 0}`;
        const task = { items: toAgentItems(items, name, me), heard, message: null, callKey };
        await this.start(name, task).catch((thrown) => this.#refuse(name, callKey, thrown));
      }
    });
    // A log that cannot be read is the run's own failure.
    await resumed.catch(() => {});
  }

  /** An agent that cannot go on: nothing is left of its budget. */
  #refuse(name: string, callKey: string, thrown: unknown): void {
    this.#statuses.set(name, "failed");
    const text = `Error: ${toFailure(thrown).message}`;
    this.#answers.push(this.#toLetter(name, `${this.#parts.context.id}/${callKey}`, text));
  }

  async #finish(name: string, id: string, report: ChildReport): Promise<void> {
    const status = toStatus(report);
    this.#statuses.set(name, status);
    if (status === "completed" || status === "failed")
      this.#answers.push(this.#toLetter(name, id, toAnswer(report)));
    const [next, ...rest] = status === "waiting_for_client" ? [] : (this.#queued.get(name) ?? []);
    if (next === undefined) return;
    this.#queued.set(name, rest);
    this.#members.delete(name);
    await this.follow(name, next, `${id}/next`);
  }

  #toLetter(author: string, id: string, text: string): Letter {
    const mark = id.replace(/^run_/, "").replace(/[^A-Za-z0-9_-]/g, "_");
    return { id: `amsg_${mark}`, author, recipient: this.#parts.me, text };
  }

  /** An agent that this run had started before another process, or this one, took it up again. */
  async #takeUp(start: ChildStart, { ends, told }: TeamLog): Promise<void> {
    const { engine, context } = this.#parts;
    const { child_id: id, call_key: callKey } = start;
    const name = nameIn(start) ?? "";
    const input = await engine.input(id);
    // One that was never written down is started again by its call, which is made again.
    if (input === undefined) return;
    this.listen();
    this.#runs.set(name, (this.#runs.get(name) ?? 0) + 1);
    this.#calls.set(callKey, name);
    const after = told.get(id) ?? -1;
    const key = id.slice(context.id.length + 1);
    if (!ends.has(id)) {
      const timeoutMs = Number(start.effective["timeout_ms"]);
      const past = { task: parseTask(input), timeoutMs, requested: start.requested };
      this.#join(this.crew.adopt({ name, key, callKey, ...past, told: after }), key);
      return;
    }
    const { events } = await engine.result(id);
    const report = toReport(id, events);
    const { account } = this.#parts.node;
    const whole = { ...report.spent, children: report.spent.children + 1 };
    account.charge(whole);
    account.family.charge(whole);
    await this.crew.tell(name, id, after);
    await this.#finish(name, id, report);
  }

  /** Tasks that were taken and not begun. */
  #queueLeft(tasks: readonly { name: string; message: string }[], { starts }: TeamLog): void {
    for (const name of new Set(tasks.map((task) => task.name))) {
      const given = tasks.filter((task) => task.name === name);
      const begun = starts.filter((start) => nameIn(start) === name && !isResumed(start));
      const left = given.slice(begun.length).map(({ message }) => message);
      if (left.length > 0 && this.#members.has(name)) this.#queued.set(name, left);
    }
  }
}

const MINUTE_MS = 60_000;

/** The call key of agents that go on with the client's answers, without a task. */
const RESUMED = "resumed";

function isResumed({ call_key }: ChildStart): boolean {
  return call_key.startsWith(RESUMED);
}

function toStatus({ ending, waits }: ChildReport): Status {
  if (ending === "cancelled") return "interrupted";
  if (ending !== "completed") return "failed";
  return waits ? "waiting_for_client" : "completed";
}

function messageIds(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.type === "agent_message" ? [String(item.id)] : []));
}

/** What an agent's end is to the one that started it. */
function toAnswer({ ending, text, message }: ChildReport): string {
  if (ending === "completed") return text.trim() === "" ? "(It gave no answer.)" : text;
  if (text.trim() === "") return `Error: ${message || "The agent failed."}`;
  return `${text}\n\n[It could not finish: ${message}]`;
}
