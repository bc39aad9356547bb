/**
 * A client behind the proxy that never gives up: it repeats an unanswered request, elsewhere. It notes
 * answers that it should not get (an error that is not about the unavailable database).
 */

import { setTimeout } from "node:timers/promises";
import type { EmittedEvent, EmittedResponse } from "../../../src/protocol/emitted.ts";
import { readEvents } from "../served.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface ChaosClient {
  /**
   * Undefined if the connection broke, or the server could not reach its database: the request may have
   * been executed.
   */
  ask(method: string, path: string, body?: object, key?: string): Promise<Answer | undefined>;
  /** Asks until it is answered, for requests that may be repeated. */
  askOn(method: string, path: string, body?: object, key?: string): Promise<Answer>;
  /** Reads a stream until it ends or breaks, and adds each complete event. */
  hear(path: string, heard: EmittedEvent[], body?: object): Promise<void>;
}

/** The database may be unavailable for longer than a request waits for it. */
const MAY_BE = [503, 429];
const AGAIN_MS = 50;

export function createChaosClient(url: string, token: string, faults: string[]): ChaosClient {
  /** A connection for each request, so that the next one goes to the next replica. */
  const send = (method: string, path: string, body?: object, key?: string): Promise<Response> => {
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      connection: "close",
    };
    if (key !== undefined) headers["idempotency-key"] = key;
    const init: RequestInit = { method, headers };
    if (body) init.body = JSON.stringify(body);
    return fetch(`${url}${path}`, init);
  };
  const ask: ChaosClient["ask"] = async (method, path, body, key) => {
    const answer = await send(method, path, body, key).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (!answer || text === undefined || MAY_BE.includes(answer.status)) return undefined;
    if (answer.status >= 500) faults.push(`${method} ${path}: ${answer.status} ${text}`);
    return { status: answer.status, body: JSON.parse(text) };
  };
  return {
    ask,
    async askOn(...asked) {
      for (;;) {
        const answer = await ask(...asked);
        if (answer) return answer;
        await setTimeout(AGAIN_MS);
      }
    },
    async hear(path, heard, body) {
      const answer = await send(body ? "POST" : "GET", path, body).catch(() => undefined);
      if (!answer || MAY_BE.includes(answer.status)) {
        await answer?.text().catch(() => {});
        await setTimeout(AGAIN_MS);
        return;
      }
      if (answer.status !== 200) {
        faults.push(`${path}: ${answer.status} ${await answer.text().catch(() => "")}`);
        return;
      }
      await hearFrames(answer, heard).catch(() => {});
    },
  };
}

/** An incomplete frame is dropped. */
async function hearFrames(answer: Response, heard: EmittedEvent[]): Promise<void> {
  let rest = "";
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const text = rest + piece;
    const end = text.lastIndexOf("\n\n") + 2;
    heard.push(...readEvents(text.slice(0, end)));
    rest = text.slice(end);
  }
}

const ENDINGS = /^response\.(completed|failed|incomplete)$/;

export function isOver(events: readonly EmittedEvent[]): boolean {
  return ENDINGS.test(events.at(-1)?.type ?? "");
}

export function idOf(events: readonly EmittedEvent[]): string | undefined {
  const [first] = events;
  return first && "response" in first ? first.response.id : undefined;
}

export function hasEnded({ status }: Pick<EmittedResponse, "status">): boolean {
  return status !== "queued" && status !== "in_progress";
}
