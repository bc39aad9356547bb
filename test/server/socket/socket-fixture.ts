/** A whole server with WebSockets over a scripted model, and a bare client of them. */

import type { TestContext } from "node:test";
import { WebSocket } from "ws";
import { systemClock } from "../../../src/base/clock.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { Guard } from "../../../src/server/guard.ts";
import {
  createSocketHandler,
  type SocketHandler,
  type SocketParts,
} from "../../../src/server/socket/socket-handler.ts";
import {
  createScriptedProvider,
  type Reply,
  type Script,
  type ScriptEngine,
} from "../../../src/testing/index.ts";
import {
  ANYBODY,
  createOpenGuard,
  type ServerSetup,
  startServer,
  type TestServer,
} from "../server-fixture.ts";

export interface SocketServer extends TestServer {
  readonly sockets: SocketHandler;
  /** A socket that is open. */
  connect(headers?: Readonly<Record<string, string>>): Promise<TestSocket>;
}

export interface SocketSetup extends ServerSetup {
  readonly socket?: Partial<SocketParts>;
  readonly guard?: Guard;
}

export async function startSocketServer(
  t: TestContext,
  engine: ScriptEngine | Script,
  { socket, guard = createOpenGuard(ANYBODY), ...setup }: SocketSetup = {},
): Promise<SocketServer> {
  let sockets: SocketHandler | undefined;
  // Before the server's own end, which waits for every connection.
  t.after(() => sockets?.destroy());
  const server = await startServer(t, engine, {
    ...setup,
    server: { ...setup.server, upgrade: (...asked) => sockets?.upgrade(...asked) },
  });
  sockets = createSocketHandler({
    api: server.responses.api,
    guard,
    clock: systemClock,
    onDefect: (thrown) => process.stderr.write(`${String(thrown)}\n`),
    ...socket,
  });
  const connect = (headers?: Readonly<Record<string, string>>): Promise<TestSocket> =>
    connectSocket(server.url, headers);
  return { ...server, sockets, connect };
}

/** An event of a socket, loosely typed: tests read fields that they know are there. */
export interface SocketEvent {
  readonly type: string;
  readonly sequence_number?: number;
  readonly stream_id?: string;
  readonly status?: number;
  readonly delta?: string;
  readonly error?: { code: string; message: string; type: string; param: string | null };
  readonly response?: {
    id: string;
    status: string;
    output_text: string;
    previous_response_id: string | null;
    output: { type: string; call_id?: string }[];
    usage: { total_tokens: number } | null;
  };
  readonly [name: string]: unknown;
}

export interface TestSocket {
  readonly raw: WebSocket;
  send(event: unknown): void;
  /** The next event that was said. Rejects when the socket closes first. */
  next(): Promise<SocketEvent>;
  /** All events up to the first of a type. */
  until(...types: readonly string[]): Promise<SocketEvent[]>;
  /** Sends a `response.create` and gives the events of its turn. */
  turn(body: object): Promise<SocketEvent[]>;
  /** The close code, when it is closed. */
  readonly closed: Promise<number>;
}

export const ENDINGS = ["response.completed", "response.incomplete", "response.failed", "error"];

export async function connectSocket(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestSocket> {
  const raw = new WebSocket(`${url.replace(/^http/, "ws")}/v1/responses`, { headers });
  const heard: SocketEvent[] = [];
  let wake: (() => void) | undefined;
  let code: number | undefined;
  raw.on("message", (data) => {
    heard.push(JSON.parse(String(data)) as SocketEvent);
    wake?.();
  });
  const closed = new Promise<number>((resolve) => {
    raw.on("close", (closeCode) => {
      code = closeCode;
      wake?.();
      resolve(closeCode);
    });
  });
  await new Promise<void>((resolve, reject) => {
    raw.on("open", () => resolve());
    raw.on("error", reject);
  });
  const next = async (): Promise<SocketEvent> => {
    for (;;) {
      const event = heard.shift();
      if (event) return event;
      if (code !== undefined) throw new Error(`The socket closed with ${code}.`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const until = async (...types: readonly string[]): Promise<SocketEvent[]> => {
    const events: SocketEvent[] = [];
    for (;;) {
      const event = await next();
      events.push(event);
      if (types.includes(event.type)) return events;
    }
  };
  const send = (event: unknown): void =>
    raw.send(typeof event === "string" ? event : JSON.stringify(event));
  return {
    raw,
    send,
    next,
    until,
    closed,
    turn(body) {
      send({ type: "response.create", ...body });
      return until(...ENDINGS);
    },
  };
}

/** The messages of the last request to the model, as `role: text`. */
export function lastAsked({ upstream }: TestServer): string[] {
  const body = upstream.requests.at(-1)?.body as {
    messages: { role: string; content: string | { text: string }[] | null }[];
  };
  return body.messages.map(({ role, content }) => {
    const text = Array.isArray(content) ? content.map((part) => part.text).join("") : content;
    return `${role}: ${text ?? ""}`;
  });
}

/** A model that answers a request when it is let go, by the text of its last message. */
export interface HeldModel {
  readonly engine: ScriptEngine;
  /** Lets the request go whose last message says `text`, whether it has come yet or not. */
  release(text: string): void;
  /** Resolves when that request has come. */
  asked(text: string): Promise<void>;
}

export function createHeldModel(answer: (text: string) => Reply): HeldModel {
  const gates = new Map<string, { come: Gate; go: Gate }>();
  const gatesOf = (text: string): { come: Gate; go: Gate } => {
    const known = gates.get(text) ?? { come: createGate(), go: createGate() };
    gates.set(text, known);
    return known;
  };
  return {
    engine: async function* (request, call) {
      const text = lastText(request.items);
      const { come, go } = gatesOf(text);
      come.open();
      await go.opened;
      yield* createScriptedProvider(answer(text)).stream(request, call);
    },
    release: (text) => gatesOf(text).go.open(),
    asked: (text) => gatesOf(text).come.opened,
  };
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function lastText(items: readonly Item[]): string {
  const last = items.at(-1);
  if (last?.type !== "message") return "";
  const { content } = last;
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : "")).join("");
}
