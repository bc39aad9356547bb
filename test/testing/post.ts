/** A bare HTTP client for these tests: the answer is kept as it comes, broken or not. */

import { request } from "node:http";
import { createSseReader } from "../../src/base/sse.ts";

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** As they were read. */
  readonly chunks: readonly Buffer[];
  readonly bytes: Buffer;
  readonly text: string;
  /** The code of the error that ended the connection, if one did. */
  readonly broken: string | undefined;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onHead?: () => void;
  /** Called with every chunk, so that a test can leave in the middle. */
  readonly onChunk?: (chunk: Buffer) => void;
}

/** Never rejects: a broken connection is a result. */
export function post(url: string, body: unknown, sent: Sent = {}): Promise<Answered> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let headers = {};
    const done = (broken: string | undefined): void => {
      const bytes = Buffer.concat(chunks);
      resolve({ status, headers, chunks, bytes, text: bytes.toString("utf8"), broken });
    };
    const fail = (error: NodeJS.ErrnoException): void => done(error.code ?? error.message);
    const { method = "POST", signal } = sent;
    const call = request(url, {
      method,
      headers: { ...sent.headers },
      agent: false,
      ...(signal ? { signal } : {}),
    });
    call.on("error", fail);
    call.on("response", (response) => {
      status = response.statusCode ?? 0;
      headers = response.headers;
      sent.onHead?.();
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        sent.onChunk?.(chunk);
      });
      response.on("error", fail);
      response.on("end", () => done(undefined));
    });
    const text = typeof body === "string" ? body : JSON.stringify(body);
    call.end(method === "GET" ? undefined : text);
  });
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of any shape.
export type Loose = any;

/** The payloads of an event stream; a payload that is not JSON stays text. */
export function eventsIn(text: string): Loose[] {
  const events: Loose[] = [];
  const reader = createSseReader((data) => {
    try {
      events.push(JSON.parse(data));
    } catch {
      // `[DONE]`, and what a fault puts in.
      events.push(data);
    }
  });
  reader.push(Buffer.from(text));
  reader.end();
  return events;
}

/** The text of all deltas of one type. */
export function joined(events: readonly Loose[], type: string): string {
  return events
    .filter((event) => event.type === type)
    .map((event) => event.delta)
    .join("");
}
