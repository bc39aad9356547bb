/**
 * Finds whose calls the client answers in the middle of a response. All of its items must fit, or none is taken.
 * Pure.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import type { ClientInput, ClientRefusal } from "../../protocol/run-events.ts";
import { ANSWERS } from "../bridge/client-calls.ts";
import { ROOT } from "../fold/agent-name.ts";
import { agentOf, answeredBy, findOpen } from "./team-history.ts";

/** All that a team has said. */
interface Said {
  /** Before the response. */
  readonly before: readonly Item[];
  /** In the response, with the answers in it. */
  readonly output: readonly Item[];
}

/**
 * One event for each agent that gets answers. Rejects with `invalid_request` an item that is not an answer, or that
 * answers a call which is not open.
 */
export function toClientInputs(
  { before, output }: Said,
  given: readonly Item[],
  nowMs: number,
): ClientInput[] {
  // Agents may still wait from before; the first agent has continued since.
  const others = before.filter((item) => !isHeads(item) || answeredBy(item) !== undefined);
  const open = findOpen([...others, ...output]);
  const byAgent = new Map<string, Item[]>();
  for (const [at, item] of given.entries()) {
    const agent = findAsker(open, item, `input[${at}]`);
    open.delete(answeredBy(item) ?? "");
    byAgent.set(agent, [...(byAgent.get(agent) ?? []), item]);
  }
  if (byAgent.size === 0) throw refuse("There are no items.", "input");
  return [...byAgent].map(([agent, items]) => ({
    type: "client_input",
    agent,
    items,
    at_ms: nowMs,
  }));
}

/** Answers as the client sent them. */
interface Given {
  readonly key: string;
  readonly items: readonly Item[];
  /** True if the team accepts no further answers. */
  readonly isLate: boolean;
}

/** The event for the first run's log: that the answers were taken, or why not. */
export function judgeAnswers(
  said: Said,
  { key, items, isLate }: Given,
  nowMs: number,
): (ClientInput | ClientRefusal)[] {
  try {
    const inputs = toClientInputs(said, items, nowMs);
    if (isLate) throw new Failure("conflict", "The response has come to its end.");
    return inputs.map((input) => ({ ...input, key }));
  } catch (thrown) {
    const { code, message, param } = toFailure(thrown);
    return [{ type: "client_refused", key, error: { code, message, param }, at_ms: nowMs }];
  }
}

function findAsker(open: ReadonlyMap<string, Item>, item: Item, param: string): string {
  const { type } = item;
  const id = answeredBy(item);
  const shown = clip(id ?? "", 80);
  if (id === undefined || !ANSWER_TYPES.has(type)) {
    throw refuse(
      `\`${param}\` is a \`${clip(type, 80)}\`; only results of calls are taken.`,
      param,
    );
  }
  const call = open.get(id);
  if (!call) throw refuse(`No call \`${shown}\` waits for an answer in this response.`, param);
  const wanted = ANSWERS.get(call.type);
  if (wanted !== type) {
    const message = `The call \`${shown}\` is answered with a \`${wanted}\`, not with a \`${type}\`.`;
    throw refuse(message, param);
  }
  const agent = agentOf(call) ?? ROOT;
  // The other agents start again with the tools that were found; this one already has its tools.
  if (agent === ROOT && type === "tool_search_output") {
    const message = `The tools found for \`${shown}\` come with another request: ${ROOT} cannot be given tools while it answers.`;
    throw refuse(message, param);
  }
  return agent;
}

function isHeads(item: Item): boolean {
  return (agentOf(item) ?? ROOT) === ROOT;
}

const ANSWER_TYPES: ReadonlySet<string> = new Set(ANSWERS.values());

function refuse(message: string, param: string): Failure {
  return new Failure("invalid_request", message, { param });
}
