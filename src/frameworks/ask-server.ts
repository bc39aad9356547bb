/**
 * Asks an Offshoot server for a response, for models of other frameworks. The server may be an app in the
 * same process (`offshoot/server`), which needs no port, or any function that takes a `Request`.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../base/json.ts";
import { createSseReader } from "../base/sse.ts";

/** The server: the result of `createServerApp`, for example. */
export interface AskedServer {
  readonly fetch: (request: Request) => Promise<Response>;
}

export interface AskedServerOptions {
  /** A key of the server. Missing if the server identifies its callers in another way. */
  readonly key?: string | undefined;
  /** The address of the API; the app itself ignores the host. `http://localhost/v1` if missing. */
  readonly baseUrl?: string | undefined;
}

/** One request to `POST /v1/responses`. */
export interface AskedRequest {
  readonly body: JsonObject;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** An error answer: its status, and the server's message. */
export class RefusedRequest extends Error {
  override readonly name = "RefusedRequest";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly url: string;

  constructor(answer: Response, url: string, body: string) {
    super(messageOf(body) ?? `The server answered with status ${answer.status}.`);
    this.status = answer.status;
    this.headers = Object.fromEntries(answer.headers);
    this.body = body;
    this.url = url;
  }
}

export interface AskServer {
  /** The finished response. Rejects with `RefusedRequest`. */
  whole(asked: AskedRequest): Promise<JsonObject>;
  /** Resolves with the events when the server has begun to answer. Rejects with `RefusedRequest`. */
  streamed(asked: AskedRequest): Promise<AsyncGenerator<JsonObject, void>>;
}

export function createAskServer(
  { fetch: ask }: AskedServer,
  { key, baseUrl = "http://localhost/v1" }: AskedServerOptions = {},
): AskServer {
  const url = `${baseUrl.replace(/\/$/, "")}/responses`;
  const send = async ({ body, signal, headers = {} }: AskedRequest): Promise<Response> => {
    const all = new Headers({ "content-type": "application/json" });
    if (key !== undefined) all.set("authorization", `Bearer ${key}`);
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) all.set(name, value);
    }
    const init = { method: "POST", headers: all, body: JSON.stringify(body) };
    const answer = await ask(new Request(url, signal ? { ...init, signal } : init));
    if (!answer.ok) throw new RefusedRequest(answer, url, await answer.text());
    return answer;
  };
  return {
    async whole(asked) {
      const answer = await send({ ...asked, body: { ...asked.body, stream: false } });
      return (await answer.json()) as JsonObject;
    },
    async streamed(asked) {
      const answer = await send({ ...asked, body: { ...asked.body, stream: true } });
      return readEvents(answer);
    },
  };
}

/** Leaving it early tells the server that its client stopped reading. */
async function* readEvents({ body }: Response): AsyncGenerator<JsonObject, void> {
  if (!body) return;
  const events: JsonObject[] = [];
  const reader = createSseReader((data) => {
    if (data !== "[DONE]") events.push(JSON.parse(data) as JsonObject);
  });
  for await (const bytes of body) {
    reader.push(bytes);
    yield* events.splice(0);
  }
  reader.end();
  yield* events.splice(0);
}

/** The server's message; undefined if a proxy before the server answered. */
function messageOf(body: string): string | undefined {
  const { message } = recordOf(recordOf(tryParseJson(body))["error"]);
  return typeof message === "string" ? message : undefined;
}

/** A field of a JSON object, if it is a list of objects. */
export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function recordOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Leaves out undefined fields, so that the server's defaults apply. */
export function withoutUndefined(fields: Readonly<Record<string, unknown>>): JsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as JsonObject;
}
