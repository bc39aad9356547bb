/** A scripted team: what each agent says, and what a client sees of it. */

import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import {
  type Reply,
  reply,
  respond,
  type Script,
  type ScriptEngine,
} from "../../src/testing/index.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";

export const team = { multi_agent: { enabled: true } };

export const spawn = (task_name: string, message: string, more: object = {}) => ({
  name: "spawn_agent",
  arguments: { task_name, message, ...more },
});
export const wait = (args: object = {}) =>
  reply.calls([{ name: "wait_agent", arguments: { ...args } }]);

/** The words of a request's last message, from any author. */
export function lastWords({ items }: Pick<ModelRequest, "items">): string {
  const last = items.findLast((item) => item.type === "message");
  if (last?.type !== "message") return "";
  const { content } = last;
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? String(part.text) : "")).join("");
}

/** The names of the functions that were called so far. */
export const callsOf = ({ items }: ModelRequest): string[] =>
  items.flatMap((item) => (item.type === "function_call" ? [item.name] : []));

type Says = Reply | ((request: ModelRequest) => Reply);

/** Says what each agent answers: the first by its turn, the others by their names. */
export function play(
  turns: readonly Says[],
  agents: Readonly<Record<string, Says>> = {},
): { readonly script: Script; readonly requests: ModelRequest[] } {
  const rest = [...turns];
  const requests: ModelRequest[] = [];
  const script = respond((request) => {
    const words = request.items.map((item) => JSON.stringify(item)).join("\n");
    const agent = agentIn(request);
    requests.push(request);
    const answer = agent === undefined ? (rest.shift() ?? agents["/root"]) : agents[agent];
    if (!answer) throw new Error(`nothing to say for ${agent ?? "/root"}: ${words}`);
    return typeof answer === "function" ? answer(request) : answer;
  });
  return { script, requests };
}

type Speaks = Says | ((request: ModelRequest) => Promise<Reply>);

/** As `play`, with agents that may take their time. */
export function playSlowly(
  turns: readonly Speaks[],
  agents: Readonly<Record<string, Speaks>> = {},
): { readonly engine: ScriptEngine; readonly requests: ModelRequest[] } {
  const rest = [...turns];
  const requests: ModelRequest[] = [];
  const makeId = createCountingIds();
  return {
    requests,
    async *engine(request, { signal }) {
      requests.push(request);
      const agent = agentIn(request);
      const speaks = agent === undefined ? (rest.shift() ?? agents["/root"]) : agents[agent];
      const says = typeof speaks === "function" ? await speaks(request) : speaks;
      if (says?.kind !== "answer") throw new Error(`nothing to say for ${agent ?? "/root"}`);
      yield* replyEvents(says, request, { signal, makeId });
    },
  };
}

/** The agent that a request is of; undefined for the first. */
function agentIn({ instructions }: ModelRequest): string | undefined {
  return /You are (\/root\/[\w/-]+),/.exec(instructions ?? "")?.[1];
}

/** `agent type`, in order. */
export const told = ({ output }: Pick<EmittedResponse, "output">): string[] =>
  output.map((item) => {
    const { agent, action } = item as { agent?: { agent_name: string }; action?: string };
    return [agent?.agent_name, item.type, action].filter(Boolean).join(" ");
  });

/** Whom an event is of; empty for one that is about the whole response. */
export function nameOf(event: EmittedEvent): string {
  return (event as { agent?: { agent_name: string } }).agent?.agent_name ?? "";
}
