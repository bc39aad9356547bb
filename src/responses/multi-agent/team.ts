/**
 * The team of one run: the actions of its agent on the agents that it has started, and the messages that it gets
 * about them. An agent is a run of its own that answers for the same client, with the same tools; it has a team too,
 * so teams nest.
 *
 * All that a team knows is in logs and items (`roster.ts`), so a restart finds it again.
 */

import type { Begun } from "../../agent/loop-parts.ts";
import type { AgentTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { storedObject, storedOrNull } from "../../base/stored.ts";
import { NO_TIMEOUT_MS } from "../../delegation/tools/specs.ts";
import type { RunOutcome } from "../../engine/engine.ts";
import { readWholeLog } from "../../engine/read-log.ts";
import type { Item } from "../../protocol/items.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { STORED_ITEMS } from "../../protocol/stored-items.ts";
import { NO_USAGE } from "../../protocol/usage.ts";
import { type Tool as GateTool, type ToolContext, ToolOutput } from "../../tools/tool.ts";
import { isChild, isTaskName, ROOT, toAgentName } from "../fold/agent-name.ts";
import type { ToolKind } from "../kinds/tool-kind.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import { type Action, type ActionInput, parseAction, toActionSpec } from "./actions.ts";
import { nameOf, toAgentWish } from "./agent-wish.ts";
import { Roster, type RosterParts } from "./roster.ts";
import { forkItems, isStoppedWait, toOwnItems, toTaskMessage } from "./team-history.ts";
import { createTeamKind, toDetails } from "./team-kind.ts";
import { findAgents } from "./team-log.ts";
import { toLetterId } from "./team-messages.ts";
import { isWaiting, withTeam } from "./team-outcome.ts";
import type { TeamSlots } from "./team-slots.ts";

interface TeamParts extends Pick<RosterParts, "context" | "engine" | "node" | "clock" | "before"> {
  readonly task: AgentTask;
  readonly wish: ResponseWish;
  readonly slots: TeamSlots;
}

export interface Team {
  /** The tools that the run's model is offered. */
  readonly kind: ToolKind;
  /** Resolves when the run's own agent may work; the first agent of a team always may. */
  enter(signal: AbortSignal): Promise<void>;
  leave(): void;
  /**
   * The conversation from which its agent continues. Agents of earlier answers continue too, with what they left
   * open.
   */
  begin(items: readonly Item[]): Promise<Begun>;
  /**
   * Called when the agent can only wait for the client's answers. Resolves with them and with what others have sent,
   * or with undefined to end the run. Run code.
   */
  answered(turn: number): Promise<readonly Item[] | undefined>;
  /** The outcome with all that the team did. No agent of it works any more then. */
  end(outcome: RunOutcome): Promise<RunOutcome>;
  /** Releases what is open if there was no outcome. */
  close(): Promise<void>;
}

/** How long an agent waits that has no agents of its own to wait for: others may write to it. */
const ALONE_MS = 30_000;

export function createTeam(parts: TeamParts): Team {
  return new RunTeam(parts);
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
      me: this.#me,
      context,
      engine,
      node,
      clock,
      before: [...before, ...task.items],
      heard: wish.multi_agent?.heard ?? -1,
      toWish: (name, begins) => toAgentWish({ task, wish }, { name, ...begins }),
    });
    this.kind = createTeamKind((action) => this.#toTool(action));
  }

  async enter(signal: AbortSignal): Promise<void> {
    if (this.#me === ROOT) return;
    this.#leave = await this.#parts.slots.enter(this.#rootId, this.#places, signal);
  }

  leave(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  async begin(items: readonly Item[]): Promise<Begun> {
    const { context } = this.#parts;
    const own = toOwnItems(items, this.#me);
    await this.#roster.restore();
    if (!isStoppedWait(own.at(-1))) return { items: own };
    const written = await context.stage("team", async (step) => {
      const came = await this.#waitAgain(own, step.signal);
      step.end(came?.flatMap(toWholeEvents) ?? []);
      return STORED_MESSAGES.write(came ?? null);
    });
    const messages = STORED_MESSAGES.read(written);
    if (messages) return { items: [...own, ...messages] };
    return { items: own, done: { usage: NO_USAGE, cost_usd: 0 }, waits: true };
  }

  async answered(turn: number): Promise<readonly Item[] | undefined> {
    const written = await this.#parts.context.stage(`answers:${turn}`, async (step) => {
      const found = await this.#outside(step.signal, () => this.#untilAnswered(step.signal));
      step.end(found?.messages.flatMap(toWholeEvents) ?? []);
      return STORED_ANSWERS.write(found ?? null);
    });
    const came = STORED_ANSWERS.read(written);
    return came ? [...came.answers, ...came.messages] : undefined;
  }

  async end(outcome: RunOutcome): Promise<RunOutcome> {
    const roster = this.#roster;
    if (this.#me === ROOT) this.#parts.slots.forget(this.#rootId);
    // If the client has to answer this agent, the others continue; if it has answered itself, all end.
    const waits = isWaiting(outcome);
    if (waits) roster.tryClose();
    else roster.stopAll();
    if (roster.isUsed) {
      await roster.settled(waits ? this.#parts.context.signal : NEVER);
      if (waits) await this.#tell(roster.box.deliver());
    }
    roster.leave();
    if (!roster.isUsed) return outcome;
    return withTeam(outcome, await roster.log(), this.#parts.node.account.spent);
  }

  async close(): Promise<void> {
    this.#roster.leave();
    this.#roster.stopAll();
    this.leave();
  }

  /**
   * Calls of a team are made one after the other: a wait is for agents that were started before it.
   */
  #toTool(action: Action): GateTool {
    return {
      spec: toActionSpec(action),
      readOnly: false,
      effect: "delegate",
      timeoutMs: NO_TIMEOUT_MS,
      parse: (input) => parseAction(action, input),
      run: async (input, context) => {
        const value = await this.#act(action, input as ActionInput, context);
        return new ToolOutput(value, [], { details: toDetails(this.#roster.box.deliver()) });
      },
    };
  }

  #act(action: Action, input: ActionInput, context: ToolContext): Promise<Json> {
    switch (action) {
      case "spawn_agent":
        return this.#spawn(input, context);
      case "send_message":
        return this.#send(input, context);
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
    if (!isTaskName(taskName))
      throw invalid(`\`${taskName}\` is not a name: use letters, digits, _ and -`);
    const name = `${this.#me}/${taskName}`;
    if (this.#roster.startedBy(callKey) === name) return { task_name: name };
    if (this.#roster.states.has(name)) {
      throw invalid(`there is an agent ${name} already; give it more to do with \`followup_task\``);
    }
    const { items: said, heard } = await this.#roster.look();
    const fork = forkItems(toOwnItems(said, this.#me), forkTurns);
    const items = [...fork, toTaskMessage(message)];
    await this.#roster.start(name, { items, heard, message, callKey });
    return { task_name: name };
  }

  async #send(
    { target, message: text }: ActionInput,
    { idempotencyKey }: ToolContext,
  ): Promise<Json> {
    const recipient = toAgentName(target, this.#me);
    const isOther = recipient !== this.#me && (await this.#isKnown(recipient));
    if (!isOther) throw unknown(recipient);
    const id = toLetterId(idempotencyKey);
    await this.#roster.post.send({ id, author: this.#me, recipient, text });
    return { sent_to: recipient, characters: text.length };
  }

  async #follow({ target, message }: ActionInput, context: ToolContext): Promise<Json> {
    const { idempotencyKey: callKey } = context;
    const name = this.#checkOwn(target);
    if (this.#roster.startedBy(callKey) === name) return { task_name: name };
    if (this.#roster.states.get(name) === "waiting_for_client") {
      throw invalid(`${name} waits for the client's answer to a call of its own`);
    }
    await this.#roster.follow(name, message, callKey);
    return { task_name: name };
  }

  async #interrupt({ target }: ActionInput): Promise<Json> {
    const name = this.#checkOwn(target);
    const before = this.#roster.states.get(name) ?? "completed";
    const stopped = this.#roster.stop(name);
    return { agent_name: name, previous_status: before, interrupted: stopped };
  }

  async #list(): Promise<Json> {
    const { states } = this.#roster;
    const others = await this.#readAgents();
    const names = [...new Set([...states.keys(), ...others.keys()])].sort();
    const agents = names.map((name) => ({
      agent_name: name,
      agent_status: states.get(name) ?? (name === this.#me ? "running" : "unknown"),
      last_task_message: this.#roster.lastTask(name) ?? others.get(name) ?? null,
    }));
    const root = { agent_name: ROOT, agent_status: "running", last_task_message: null };
    return { agents: [root, ...agents] };
  }

  async #wait({ targets, timeoutMs }: ActionInput, signal: AbortSignal): Promise<JsonObject> {
    const roster = this.#roster;
    const { clock } = this.#parts;
    const names = targets.map((target) => this.#checkOwn(target));
    let leftMs = roster.isWorking ? timeoutMs : Math.min(timeoutMs, ALONE_MS);
    const untilMs = clock.now() + leftMs;
    await this.#outside(signal, async () => {
      while (leftMs > 0 && !this.#isOver(names)) {
        await roster.changed(leftMs, signal);
        leftMs = untilMs - clock.now();
      }
    });
    const updated = [...new Set(roster.box.unread.map(({ author }) => author))];
    const stuck = updated.length === 0 && roster.isIdle ? this.#findPaused() : [];
    return {
      updated,
      timed_out: !this.#isOver(names),
      ...(stuck.length > 0 ? { waiting_for_client: stuck } : {}),
    };
  }

  /** True if a wait has nothing left to wait for. */
  #isOver(names: readonly string[]): boolean {
    const { isIdle } = this.#roster;
    if (names.length > 0) return isIdle || !names.some((name) => this.#isExpected(name));
    if (this.#roster.box.unread.length > 0) return true;
    // Other agents may write to an agent that has started none; only its own agents write to the first one.
    return isIdle && (this.#me === ROOT || this.#findPaused().length > 0);
  }

  /** True if an agent may still report: the client may answer one that waits while others work. */
  #isExpected(name: string): boolean {
    const status = this.#roster.states.get(name);
    return status === "running" || status === "waiting_for_client";
  }

  #findPaused(): string[] {
    return [...this.#roster.states].flatMap(([name, status]) =>
      status === "waiting_for_client" && isChild(name, this.#me) ? [name] : [],
    );
  }

  /** A waiting agent does no work: another one may work meanwhile. */
  async #outside<Out>(signal: AbortSignal, wait: () => Promise<Out>): Promise<Out> {
    const hadPlace = this.#leave !== undefined;
    this.leave();
    const found = await this.#parts.context.waiting(undefined, wait);
    if (hadPlace) await this.enter(signal);
    return found;
  }

  /**
   * Continues the wait that ended because the client had to answer. Undefined if only the client is left to wait for;
   * no answers are taken from then on.
   */
  async #waitAgain(own: readonly Item[], signal: AbortSignal): Promise<Item[] | undefined> {
    const call = own.findLast((item) => item.type === "multi_agent_call");
    const given = call?.type === "multi_agent_call" ? tryParseJson(call.arguments) : undefined;
    const asked = parseAction("wait_agent", given ?? {});
    for (;;) {
      const waited = await this.#wait(asked, signal);
      if (waited["waiting_for_client"] === undefined) return this.#roster.box.deliver();
      if (this.#roster.tryClose()) return undefined;
    }
  }

  /** Waits for as long as others work. Undefined as above. */
  async #untilAnswered(signal: AbortSignal): Promise<Came | undefined> {
    const roster = this.#roster;
    for (;;) {
      const { changes } = roster;
      const { answers, isAsking, output } = await roster.log();
      if (!isAsking && answers.length === 0) {
        const messages = await this.#waitAgain(toOwnItems(output, this.#me), signal);
        return messages && { answers, messages };
      }
      // The agent that started this one gives it the tools that were found.
      if (answers.some(({ type }) => type === "tool_search_output")) return undefined;
      if (!isAsking) return { answers, messages: roster.box.deliver() };
      if (changes !== roster.changes) continue;
      if (roster.tryClose()) return undefined;
      await roster.changed(MINUTE_MS, signal);
    }
  }

  async #tell(messages: readonly Item[]): Promise<void> {
    if (messages.length === 0) return;
    await this.#roster.emit(messages.flatMap(toWholeEvents));
  }

  #checkOwn(target: string): string {
    const name = toAgentName(target, this.#me);
    if (!this.#roster.states.has(name)) throw unknown(name);
    if (isChild(name, this.#me)) return name;
    throw invalid(`${name} is not one of the agents that you started`);
  }

  async #isKnown(name: string): Promise<boolean> {
    if (name === ROOT || this.#roster.states.has(name)) return true;
    return (await this.#readAgents()).has(name);
  }

  /**
   * All agents of the team that were started in this answer, with their last tasks, from the first run's log.
   */
  async #readAgents(): Promise<ReadonlyMap<string, string>> {
    const { context } = this.#parts;
    if (this.#me === ROOT) return findAgents(await context.readLog());
    return findAgents(await readWholeLog(context.runs.record, this.#rootId));
  }
}

const MINUTE_MS = 60_000;

/** The messages for an agent that came while it could do nothing. */
interface Came {
  /** The client's answers to its calls. */
  readonly answers: readonly Item[];
  readonly messages: readonly Item[];
}

const STORED_MESSAGES = storedOrNull(STORED_ITEMS);
const STORED_ANSWERS = storedOrNull(storedObject<Came>("answers", ["answers", "messages"]));

/** An ended run's agents come to their end by themselves. */
const NEVER = new AbortController().signal;

function toWholeEvents(item: Item, index: number): RunEvent[] {
  return [
    { type: "item_start", index, item, own: true },
    { type: "item_end", index, item },
  ];
}

function invalid(problem: string): Failure {
  return new Failure("invalid_request", `It cannot be done: ${problem}.`);
}

function unknown(name: string): Failure {
  return new Failure("not_found", `There is no agent ${name}. \`list_agents\` shows who is there.`);
}
