/**
 * The team of one run: what its agent may do with the agents that it has started, and what it is told of
 * them. An agent is a run of its own that answers for the same client, with the same tools; it has a
 * team too, so teams nest.
 *
 * What a team knows is in logs and items (`roster.ts`), so a restart finds it as it was.
 */

import type { Begun } from "../../agent/loop.ts";
import type { AgentTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ChildWish } from "../../delegation/child.ts";
import { NO_TIMEOUT_MS } from "../../delegation/tools/subagent.ts";
import type { RunOutcome } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { RunEnd, RunEvent } from "../../protocol/run-events.ts";
import { addUsage, NO_USAGE } from "../../protocol/usage.ts";
import { type Tool as GateTool, type ToolContext, ToolOutput } from "../../tools/tool.ts";
import type { ToolKind } from "../bridge/tool-kind.ts";
import { encodeWish, type ResponseWish } from "../request/response-wish.ts";
import { type Action, type ActionInput, parseAction, toActionSpec } from "./actions.ts";
import { isChild, isTaskName, ROOT, toAgentName } from "./agent-name.ts";
import { RESUMED, Roster, type RosterParts } from "./roster.ts";
import {
  findReady,
  forkItems,
  isPaused,
  isStoppedWait,
  toAgentItems,
  toOwnItems,
  toTaskMessage,
} from "./team-history.ts";
import { createTeamKind, toDetails } from "./team-kind.ts";
import { usageBelow } from "./team-log.ts";
import type { TeamSlots } from "./team-slots.ts";

interface TeamParts extends Pick<RosterParts, "context" | "engine" | "node" | "clock" | "before"> {
  readonly task: AgentTask;
  readonly wish: ResponseWish;
  readonly slots: TeamSlots;
}

export interface Team {
  /** What the run's model is offered. */
  readonly kind: ToolKind;
  /** Resolves when the run's own agent may work; the first of a team always may. */
  enter(signal: AbortSignal): Promise<void>;
  leave(): void;
  /** The conversation that its agent goes on with; what agents of earlier answers left open goes on too. */
  begin(items: readonly Item[]): Promise<Begun>;
  /** The outcome with all that the team did in it. Nobody of it works any more then. */
  end(outcome: RunOutcome): Promise<RunOutcome>;
  /** Gives back what is open, where there was no outcome. */
  close(): Promise<void>;
}

/** How long an agent waits that has nobody of its own to wait for: others may write to it. */
const ALONE_MS = 30_000;

/** Turns that an agent may take for one task. */
const MAX_TURNS = 50;

export function createTeam(parts: TeamParts): Team {
  return new RunTeam(parts);
}

/** The name of a run's agent. */
export function nameOf({ multi_agent }: ResponseWish): string {
  return multi_agent?.name ?? ROOT;
}

class RunTeam implements Team {
  readonly kind: ToolKind;
  readonly #me: string;
  readonly #rootId: string;
  readonly #parts: TeamParts;
  readonly #roster: Roster;
  readonly #places: number;
  #leave: (() => void) | undefined;

  constructor(parts: TeamParts) {
    const { context, engine, node, clock, before, task, wish } = parts;
    this.#parts = parts;
    this.#me = nameOf(wish);
    this.#rootId = context.id.split("/", 1)[0] ?? context.id;
    this.#places = wish.multi_agent?.max_concurrent ?? 1;
    this.#roster = new Roster({
      ...{ me: this.#me, context, engine, node, clock, before: [...before, ...task.items] },
      maxConcurrent: this.#places,
      toWish: (name, items) => toChildWish(parts, name, items),
    });
    this.kind = createTeamKind((action) => this.#toTool(action));
  }

  async enter(signal: AbortSignal): Promise<void> {
    if (this.#me === ROOT) return;
    this.#roster.listen();
    this.#leave = await this.#parts.slots.enter(this.#rootId, this.#places, signal);
  }

  leave(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  async begin(items: readonly Item[]): Promise<Begun> {
    const own = toOwnItems(items, this.#me);
    await this.#roster.restore();
    const isWaiting = isStoppedWait(own.at(-1));
    const ready = findReady(items, this.#me);
    if (ready.length === 0 && !isWaiting) return { items: own };
    const { messages, stops } = (await this.#parts.context.step("team", async ({ signal }) => {
      for (const name of ready) await this.#resume(name, items);
      return isWaiting ? await this.#waitAgain(own, signal) : { messages: [], stops: false };
    })) as unknown as { messages: Item[]; stops: boolean };
    const begun = { items: [...own, ...messages] };
    return stops ? { ...begun, done: { usage: NO_USAGE, cost_usd: 0 } } : begun;
  }

  async end(outcome: RunOutcome): Promise<RunOutcome> {
    const roster = this.#roster;
    roster.mail.stop();
    if (this.#me === ROOT) this.#parts.slots.forget(this.#rootId);
    if (!roster.isUsed) return outcome;
    const { signal } = this.#parts.context;
    const { output } = await roster.log();
    // The others go on while the client has to answer this one; an answer of its own is the end of all.
    const waits = outcome.ending === "completed" && isPaused(toOwnItems(output, this.#me));
    if (!waits) roster.stopAll();
    await roster.settled(waits ? signal : NEVER);
    if (waits) await this.#tell(roster.deliver());
    const { usage, costUsd } = usageBelow(await roster.log());
    await roster.crew.close();
    return mapEnd(outcome, (end) => ({
      ...end,
      usage: addUsage(end.usage, usage),
      cost_usd: end.cost_usd === null || costUsd === null ? null : end.cost_usd + costUsd,
      spent: { ...this.#parts.node.account.spent },
    }));
  }

  async close(): Promise<void> {
    this.#roster.mail.stop();
    this.#roster.stopAll();
    await this.#roster.crew.close();
    this.leave();
  }

  /** Calls of a team are made one after the other: a wait is for what was started before it. */
  #toTool(action: Action): GateTool {
    return {
      spec: toActionSpec(action),
      readOnly: false,
      effect: "delegate",
      timeoutMs: NO_TIMEOUT_MS,
      parse: (input) => parseAction(action, input),
      run: async (input, context) => {
        const value = await this.#act(action, input as ActionInput, context);
        return new ToolOutput(value, [], { details: toDetails(this.#roster.deliver()) });
      },
    };
  }

  #act(action: Action, input: ActionInput, context: ToolContext): Promise<Json> {
    switch (action) {
      case "spawn_agent":
        return this.#spawn(input, context);
      case "send_message":
        return this.#send(input);
      case "followup_task":
        return this.#follow(input, context);
      case "wait_agent":
        return this.#wait(input, context.signal);
      case "interrupt_agent":
        return this.#interrupt(input);
      case "list_agents":
        return this.#list();
    }
  }

  async #spawn(
    { taskName, message, forkTurns }: ActionInput,
    { idempotencyKey: callKey }: ToolContext,
  ): Promise<Json> {
    if (!isTaskName(taskName)) throw wrong(`\`${taskName}\` is no name: letters, digits, _ and -`);
    const name = `${this.#me}/${taskName}`;
    if (this.#roster.startedBy(callKey) === name) return { task_name: name };
    if (this.#roster.statuses.has(name)) {
      throw wrong(`there is an agent ${name} already; give it more to do with \`followup_task\``);
    }
    const fork =
      forkTurns === "none"
        ? []
        : forkItems(toOwnItems(await this.#roster.items(), this.#me), forkTurns);
    const items = [...fork, toTaskMessage(message)];
    await this.#roster.start(name, { items, message, callKey });
    return { task_name: name };
  }

  async #send({ target, message }: ActionInput): Promise<Json> {
    const name = toAgentName(target, this.#me);
    if (name === this.#me || !this.#isKnown(name)) throw unknown(name);
    // The call itself is the message: whoever it is for finds it in the log.
    return { sent_to: name, characters: message.length };
  }

  async #follow({ target, message }: ActionInput, context: ToolContext): Promise<Json> {
    const { idempotencyKey: callKey } = context;
    const name = this.#checkOwn(target);
    if (this.#roster.startedBy(callKey) === name) return { task_name: name };
    if (this.#roster.statuses.get(name) === "waiting_for_client") {
      throw wrong(`${name} waits for the client's answer to a call of its own`);
    }
    await this.#roster.follow(name, message, callKey);
    return { task_name: name };
  }

  async #interrupt({ target }: ActionInput): Promise<Json> {
    const name = this.#checkOwn(target);
    const before = this.#roster.statuses.get(name) ?? "completed";
    const stopped = this.#roster.stop(name);
    return { agent_name: name, previous_status: before, interrupted: stopped };
  }

  async #list(): Promise<Json> {
    const { statuses, mail } = this.#roster;
    const names = [...new Set([...statuses.keys(), ...mail.agents.keys()])].sort();
    const agents = names.map((name) => ({
      agent_name: name,
      agent_status: statuses.get(name) ?? (name === this.#me ? "running" : "unknown"),
      last_task_message: this.#roster.lastTask(name) ?? null,
    }));
    const root = { agent_name: ROOT, agent_status: "running", last_task_message: null };
    return { agents: [root, ...agents] };
  }

  async #wait({ targets, timeoutMs }: ActionInput, signal: AbortSignal): Promise<JsonObject> {
    const roster = this.#roster;
    const { clock } = this.#parts;
    const names = targets.map((target) => this.#checkOwn(target));
    let leftMs = roster.running.length > 0 ? timeoutMs : Math.min(timeoutMs, ALONE_MS);
    const untilMs = clock.now() + leftMs;
    await this.#outside(signal, async () => {
      while (leftMs > 0 && !this.#isOver(names)) {
        await roster.changed(leftMs, signal);
        leftMs = untilMs - clock.now();
      }
    });
    const updated = [...new Set(roster.letters().map(({ author }) => author))];
    const stuck = updated.length === 0 && roster.running.length === 0 ? this.#findPaused() : [];
    return {
      updated,
      timed_out: !this.#isOver(names),
      ...(stuck.length > 0 ? { waiting_for_client: stuck } : {}),
    };
  }

  /** Whether a wait has nothing left to wait for. */
  #isOver(names: readonly string[]): boolean {
    const { running } = this.#roster;
    if (names.length > 0) return !names.some((name) => running.includes(name));
    if (this.#roster.letters().length > 0) return true;
    // Others may write to an agent that has none of its own; to the first nobody else does.
    return running.length === 0 && (this.#me === ROOT || this.#findPaused().length > 0);
  }

  #findPaused(): string[] {
    const { statuses } = this.#roster;
    return [...statuses].flatMap(([name, status]) =>
      status === "waiting_for_client" && isChild(name, this.#me) ? [name] : [],
    );
  }

  /** An agent that waits does no work: another one may meanwhile. */
  async #outside(signal: AbortSignal, wait: () => Promise<void>): Promise<void> {
    const hadPlace = this.#leave !== undefined;
    this.leave();
    await wait();
    if (hadPlace) await this.enter(signal);
  }

  async #resume(name: string, items: readonly Item[]): Promise<void> {
    const callKey = `${RESUMED}:${name}`;
    if (this.#roster.startedBy(callKey) === name) return;
    const known = toAgentItems(items, name, this.#me);
    await this.#roster.start(name, { items: known, message: null, callKey });
  }

  /** Goes on with the wait that ended because the client had to answer. */
  async #waitAgain(own: readonly Item[], signal: AbortSignal): Promise<Json> {
    const call = own.findLast((item) => item.type === "multi_agent_call");
    const given = call?.type === "multi_agent_call" ? tryParseJson(call.arguments) : undefined;
    const waited = await this.#wait(parseAction("wait_agent", given ?? {}), signal);
    const messages = this.#roster.deliver();
    await this.#tell(messages);
    const stops = waited["waiting_for_client"] !== undefined;
    return { messages: messages as unknown as Json, stops };
  }

  async #tell(messages: readonly Item[]): Promise<void> {
    if (messages.length === 0) return;
    await this.#roster.crew.emit(messages.flatMap(toWholeEvents));
  }

  #checkOwn(target: string): string {
    const name = toAgentName(target, this.#me);
    if (!this.#roster.statuses.has(name)) throw unknown(name);
    if (isChild(name, this.#me)) return name;
    throw wrong(`${name} is not one of the agents that you started`);
  }

  #isKnown(name: string): boolean {
    const { statuses, mail } = this.#roster;
    return name === ROOT || statuses.has(name) || mail.agents.has(name);
  }
}

/** An ended run's agents come to their end by themselves. */
const NEVER = new AbortController().signal;

function toWholeEvents(item: Item, index: number): RunEvent[] {
  return [
    { type: "item_start", index, item, own: true },
    { type: "item_end", index, item },
  ];
}

function mapEnd(outcome: RunOutcome, change: (end: RunEnd) => RunEnd): RunOutcome {
  const events = outcome.events.map((event) => (event.type === "run_end" ? change(event) : event));
  const end = events.find((event) => event.type === "run_end");
  return { ...outcome, events, result: (end ?? outcome.result) as unknown as Json };
}

/** An agent answers for the client of the run that started it, with the same model and tools. */
function toChildWish({ task, wish }: TeamParts, name: string, items: readonly Item[]): ChildWish {
  // Those of an agent that is not the first have a note in them that is not for the next.
  const isFirst = nameOf(wish) === ROOT;
  const instructions = (isFirst ? task.instructions : wish.multi_agent?.instructions) ?? null;
  const multi_agent = {
    max_concurrent: wish.multi_agent?.max_concurrent ?? 1,
    ...{ name, instructions },
  };
  const response = encodeWish({
    ...wish,
    ...{ multi_agent, ignored: [], previous_response_id: null, conversation: null },
    ...{ background: false, is_compaction: false },
    // What it uses is counted with the run that started it, and booked once.
    key_id: null,
  });
  return {
    label: name.slice(name.lastIndexOf("/") + 1),
    prompt: "",
    instructions: [instructions, toNote(name)].filter(Boolean).join("\n\n"),
    summaryPrompt: null,
    tools: undefined,
    maxTurns: MAX_TURNS,
    agent: name,
    items,
    response,
  };
}

function toNote(name: string): string {
  const above = name.slice(0, name.lastIndexOf("/"));
  return `You are ${name}, one agent of a team. ${above} has given you a task: do it, and answer with the result alone. Your answer is sent to ${above} as it is; the user does not see it.`;
}

function wrong(problem: string): Failure {
  return new Failure("invalid_request", `It cannot be done: ${problem}.`);
}

function unknown(name: string): Failure {
  return new Failure("not_found", `There is no agent ${name}. \`list_agents\` shows who is there.`);
}
