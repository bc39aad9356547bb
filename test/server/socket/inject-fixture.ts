/** A team on a socket whose agents call functions of the client's, and a client that injects the answers. */

import assert from "node:assert/strict";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { reply } from "../../../src/testing/index.ts";
import { lastWords, spawn, team, wait } from "../team-fixture.ts";
import {
  ENDINGS,
  type Gate,
  type SocketEvent,
  type SocketServer,
  type TestSocket,
} from "./socket-fixture.ts";

export const tools = [
  { type: "function", name: "weigh", parameters: { type: "object" }, strict: false },
];
export const weigh = (...ids: readonly string[]) =>
  reply.calls(ids.map((call_id) => ({ name: "weigh", arguments: {}, call_id })));

/** Asks the client once, and answers with all that it said. */
export const asking =
  (...ids: readonly string[]) =>
  ({ items }: ModelRequest) => {
    const results = items.flatMap((item) =>
      item.type === "function_call_output" && isWeighed(items, item.call_id)
        ? [String(item.output)]
        : [],
    );
    return results.length > 0 ? reply.text(`It is ${results.join(" and ")}.`) : weigh(...ids);
  };

function isWeighed(items: ModelRequest["items"], callId: string): boolean {
  return items.some(
    (item) => item.type === "function_call" && item.call_id === callId && item.name === "weigh",
  );
}

/** The joined input of the first agent. */
export const join = ({ items }: ModelRequest) =>
  reply.text(
    items
      .flatMap((item) => (item.type === "message" ? [lastWords({ items: [item] })] : []))
      .filter((text) => text.startsWith("Message"))
      .sort()
      .join(" | "),
  );

export const twoAgents = [
  reply.calls([spawn("a", "Weigh a."), spawn("b", "Think.")]),
  wait({ targets: ["a", "b"] }),
  join,
];

/** An agent that says something when the gate opens. */
export const thinking = (gate: Gate) => async () => {
  await gate.opened;
  return reply.text("Thought.");
};

export const answer = (call_id: string | undefined, output: string) => ({
  type: "function_call_output",
  call_id,
  output,
});

export interface Asked {
  readonly socket: TestSocket;
  readonly id: string;
  /** All events in order, except answers to injections. */
  readonly events: SocketEvent[];
  /** The next call of an agent that the client has to make. */
  nextCall(agent: string): Promise<string>;
  /** Sends items, and gives what is said to that. */
  inject(input: readonly unknown[]): Promise<SocketEvent>;
  until(isIt: (event: SocketEvent) => boolean): Promise<SocketEvent>;
  /** The response as it ended. */
  end(): Promise<NonNullable<SocketEvent["response"]>>;
}

export async function ask(server: SocketServer, body: object): Promise<Asked> {
  const socket = await server.connect();
  const events: SocketEvent[] = [];
  socket.send({ type: "response.create", ...team, tools, input: "Weigh.", ...body });
  const until = async (isIt: (event: SocketEvent) => boolean): Promise<SocketEvent> => {
    for (;;) {
      const event = await socket.next();
      if (!event.type.startsWith("response.inject.")) events.push(event);
      if (isIt(event)) return event;
      assert.ok(!ENDINGS.includes(event.type), JSON.stringify(event));
    }
  };
  const created = await until(({ type }) => type === "response.created");
  const id = created.response?.id ?? "";
  return {
    socket,
    id,
    events,
    until,
    async nextCall(agent) {
      const { item } = await until((event) => {
        const { type } = (event["item"] ?? {}) as { type?: string };
        const isCall = type === "function_call" && event.type === "response.output_item.done";
        return isCall && agentOf(event) === agent;
      });
      return (item as { call_id: string }).call_id;
    },
    inject(input) {
      socket.send({ type: "response.inject", response_id: id, input });
      return until(({ type }) => type.startsWith("response.inject."));
    },
    async end() {
      const { response } = await until(({ type }) => type === "response.completed");
      assert.ok(response);
      return response;
    },
  };
}

export const agentOf = (event: SocketEvent): string =>
  (event["agent"] as { agent_name: string } | undefined)?.agent_name ?? "";

/** Tells when an agent has said its words. */
export const says =
  (agent: string, text: string) =>
  (event: SocketEvent): boolean =>
    event.type === "response.output_text.done" &&
    event["text"] === text &&
    agentOf(event) === agent;

export function countOf(requests: readonly ModelRequest[], agent: string): number {
  return requests.filter(({ instructions }) => instructions?.includes(`You are ${agent},`)).length;
}
