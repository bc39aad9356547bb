/**
 * The agents that a run has started: who works, who waits, who has answered. Found again from the run's
 * log after a restart, and from the conversation in a later request.
 */

import { parseTask } from "../../agent/task.ts";
import { throwIfAborted } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import type { ChildReport, ChildWish } from "../../delegation/child.ts";
import { toReport } from "../../delegation/executors/in-process.ts";
import type { DelegationNode } from "../../delegation/node.ts";
import type { Engine, RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { ChildStart } from "../../protocol/run-events.ts";
import { type Crew, createCrew, type Member } from "./crew.ts";
import { findTasks, isPaused, toAgentItems, toOwnItems, toTaskMessage } from "./team-history.ts";
import { nameIn, readTeamLog, type TeamLog } from "./team-log.ts";
import { createMail, type Letter, type Mail, toMessageItem } from "./team-mail.ts";

export interface RosterParts {
  /** Whose team it is. */
  readonly me: string;
  readonly context: RunContext;
  readonly engine: Pick<Engine, "follow" | "status" | "result">;
  readonly node: DelegationNode;
  readonly clock: Clock;
  readonly maxConcurrent: number;
  /** The conversation before this run's answer. */
  readonly before: readonly Item[];
  /** The run of an agent that begins with these items. */
  readonly toWish: (name: string, items: readonly Item[]) => ChildWish;
}

type Status = "running" | "completed" | "failed" | "interrupted" | "waiting_for_client";

interface NewTask {
  readonly items: readonly Item[];
  /** Null for an agent that goes on with the client's answers. */
  readonly message: string | null;
  readonly callKey: string;
}

export class Roster {
  readonly crew: Crew;
  readonly mail: Mail;
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
  #listeners: (() => void)[] = [];

  constructor(parts: RosterParts) {
    const { context, engine, node, maxConcurrent } = parts;
    this.#parts = parts;
    this.crew = createCrew({ context, engine, node, maxConcurrent });
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
  async items(): Promise<Item[]> {
    return [...this.#parts.before, ...(await this.log()).output];
  }

  async log(): Promise<TeamLog> {
    return readTeamLog(await this.#parts.context.readLog(), this.#parts.me);
  }

  /** Agents of earlier answers, and those that this run has started before it was taken over. */
  async restore(): Promise<void> {
    const { me, before } = this.#parts;
    for (const { name, message } of findTasks(before, me)) {
      this.#lastTasks.set(name, message);
      const own = toOwnItems(toAgentItems(before, name, me), name);
      this.#statuses.set(name, isPaused(own) ? "waiting_for_client" : "completed");
    }
    const log = await this.log();
    for (const id of log.delivered) this.#delivered.add(id);
    const tasks = findTasks(log.output, me);
    for (const { name, message } of tasks) this.#lastTasks.set(name, message);
    for (const start of log.starts) await this.#takeUp(start, log);
    this.#queueLeft(tasks, log);
  }

  /** Hears from here on of what others send. */
  listen(): void {
    this.mail.start(() => this.#tell());
  }

  /** Starts an agent, or has one go on. Resolves when it is written down. */
  async start(name: string, { items, message, callKey }: NewTask): Promise<void> {
    const { me, toWish } = this.#parts;
    this.listen();
    const count = (this.#runs.get(name) ?? 0) + 1;
    const key = `${name.slice(me.length + 1)}~${count}`;
    const member = await this.crew.start({ name, key, callKey }, toWish(name, items));
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
    const known = toAgentItems(await this.items(), name, me);
    const letters = this.mail.to(name).map(toMessageItem);
    const had = new Set(known.map((item) => String((item as { id?: unknown }).id)));
    const unread = letters.filter((item) => !had.has(String((item as { id?: unknown }).id)));
    const items = [...known, ...unread, toTaskMessage(message)];
    await this.start(name, { items, message, callKey });
  }

  /** False for one that does nothing. */
  stop(name: string): boolean {
    const member = this.#members.get(name);
    this.#queued.delete(name);
    member?.stop();
    return member !== undefined;
  }

  stopAll(): void {
    for (const name of this.running) this.stop(name);
  }

  /** Resolves when nobody works any more. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#members.size > 0) await this.changed(MINUTE_MS, signal);
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

  /** Resolves when something has happened, or the time is over. */
  async changed(limitMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const news = new Promise<void>((resolve) => this.#listeners.push(resolve));
    const late = this.#parts.clock.sleep(limitMs, either).catch(() => {});
    await Promise.race([news, late]);
    over.abort();
    throwIfAborted(signal);
  }

  #tell(): void {
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  #join(member: Member, key: string): void {
    const { name } = member;
    this.#members.set(name, member);
    this.#statuses.set(name, "running");
    const id = `${this.#parts.context.id}/${key}`;
    member.report
      .then((report) => this.#finish(name, id, report))
      // The run is over, or another process has it: nobody waits for this agent here.
      .catch(() => this.#statuses.set(name, "failed"))
      .finally(() => {
        if (this.#members.get(name) === member) this.#members.delete(name);
        this.#tell();
      });
  }

  async #finish(name: string, id: string, report: ChildReport): Promise<void> {
    const status = await this.#statusOf(name, report);
    this.#statuses.set(name, status);
    if (status === "completed" || status === "failed")
      this.#answers.push(this.#toLetter(name, id, report));
    const [next, ...rest] = status === "waiting_for_client" ? [] : (this.#queued.get(name) ?? []);
    if (next === undefined) return;
    this.#queued.set(name, rest);
    this.#members.delete(name);
    await this.follow(name, next, `${id}/next`);
  }

  async #statusOf(name: string, { ending }: ChildReport): Promise<Status> {
    if (ending === "cancelled") return "interrupted";
    if (ending !== "completed") return "failed";
    const own = toOwnItems(toAgentItems(await this.items(), name, this.#parts.me), name);
    return isPaused(own) ? "waiting_for_client" : "completed";
  }

  #toLetter(author: string, id: string, report: ChildReport): Letter {
    const mark = id.replace(/^run_/, "").replace(/[^A-Za-z0-9_-]/g, "_");
    return { id: `amsg_${mark}`, author, recipient: this.#parts.me, text: toAnswer(report) };
  }

  /** An agent that this run had started before another process, or this one, took it up again. */
  async #takeUp(start: ChildStart, { ends, told }: TeamLog): Promise<void> {
    const { engine, context } = this.#parts;
    const { child_id: id, call_key: callKey } = start;
    const name = nameIn(start) ?? "";
    const run = await engine.status(id);
    // One that was never written down is started again by its call, which is made again.
    if (!run) return;
    this.listen();
    this.#runs.set(name, (this.#runs.get(name) ?? 0) + 1);
    this.#calls.set(callKey, name);
    const after = told.get(id) ?? -1;
    const key = id.slice(context.id.length + 1);
    if (!ends.has(id)) {
      const timeoutMs = Number(start.effective["timeout_ms"]);
      const task = parseTask(run.input);
      this.#join(this.crew.adopt({ name, key, callKey, task, timeoutMs, told: after }), key);
      return;
    }
    const { events } = await engine.result(id);
    const report = toReport(id, events);
    const { spent } = report;
    this.#parts.node.account.charge({ ...spent, children: spent.children + 1 });
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
export const RESUMED = "resumed";

function isResumed({ call_key }: ChildStart): boolean {
  return call_key.startsWith(RESUMED);
}

/** What an agent's end is to the one that started it. */
function toAnswer({ ending, text, message }: ChildReport): string {
  if (ending === "completed") return text.trim() === "" ? "(It gave no answer.)" : text;
  if (text.trim() === "") return `Error: ${message || "The agent failed."}`;
  return `${text}\n\n[It could not finish: ${message}]`;
}
