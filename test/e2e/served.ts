/** The built command as a server: started in a child process, asked over HTTP. */

import assert from "node:assert/strict";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import { IS_REPLICATED, newSharedRecord, putInFront, readSharedRecord } from "../replicated.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";

export interface Served extends AsyncDisposable {
  readonly place: Place;
  readonly command: RunningCommand;
  readonly url: string;
  /** The lines of standard error that are JSON. */
  lines(): Record<string, unknown>[];
  ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answered>;
  create(body: object): Promise<EmittedResponse>;
  /** Every byte that it has written into its home, and into its record if that is elsewhere. */
  readStored(): Promise<string>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

interface ServeOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The key to send; none for a server without keys. */
  readonly key?: string;
  /** True if it accepts only the keys of its record. */
  readonly hasKeys?: boolean;
  readonly place?: Place;
}

/**
 * Any port, JSON lines, no keys unless one is given. With `OFFSHOOT_TEST_SERVERS=postgres` these are three
 * on one Postgres, unless the test has a place or a record of its own; `command` is then that of the first, and all of
 * them work in the folder of `place`.
 */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const isOwn = options.place !== undefined || options.env?.["OFFSHOOT_STORE"] !== undefined;
  if (!IS_REPLICATED || isOwn || options.args?.includes("--workers"))
    return await serveOne(options);
  const record = await newSharedRecord();
  const env = { ...options.env, OFFSHOOT_STORE: record };
  // As on machines of their own that share a folder for the tools.
  const place = await createPlace();
  const start = async (name: string): Promise<Served> => {
    const HOME = join(place.home, name);
    await mkdir(HOME);
    return await serveOne({ ...options, place, env: { HOME, ...env } });
  };
  const all = [await start("one"), await start("two"), await start("three")] as const;
  const [first] = all;
  const front = await putInFront(all.map(({ url }) => url));
  return {
    place,
    command: first.command,
    url: front.url,
    ...createAsking(front.url, options.key),
    lines: () => all.flatMap((served) => served.lines()),
    async readStored() {
      const [stored, homes] = [await readSharedRecord(record), await readFolder(place.home)];
      return `${stored}\n${homes}`;
    },
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      for (const served of all) await served[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

async function serveOne({
  args = [],
  env = {},
  key,
  hasKeys = key !== undefined,
  place,
}: ServeOptions = {}): Promise<Served> {
  const at = place ?? (await createPlace());
  const auth = hasKeys ? [] : ["--no-auth"];
  const words = ["serve", "--port", "0", "--log", "json", ...auth, ...args];
  const variables = key === undefined ? env : { OFFSHOOT_SERVER_KEY: key, ...env };
  const command = at.start(words, { env: variables });
  const address = /listening at (https?:\/\/[^\s,]+).*\n/;
  await command.waitForStderr(address);
  const url = address.exec(command.stderr)?.[1] ?? assert.fail(command.stderr);
  return {
    place: at,
    command,
    url,
    ...createAsking(url, key),
    lines: () =>
      command.stderr
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    readStored: () => readFolder(at.home),
    async [Symbol.asyncDispose]() {
      command.child.kill("SIGKILL");
      await command.ended.catch(() => {});
      if (!place) await at[Symbol.asyncDispose]();
    },
  };
}

async function readFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map((file) => readFile(join(file.parentPath, file.name), "latin1"));
  return (await Promise.all(texts)).join("\n");
}

function createAsking(url: string, key: string | undefined): Pick<Served, "ask" | "create"> {
  // A connection for each request, so that the next one goes to the next worker.
  const headers: Record<string, string> = { connection: "close" };
  if (key !== undefined) headers["authorization"] = `Bearer ${key}`;
  const ask: Served["ask"] = async (method, path, body, signal) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const limit = signal ? { signal } : {};
    const answer = await fetch(`${url}${path}`, { method, headers, ...sent, ...limit });
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    const read = isJson ? await answer.json() : await answer.text();
    return { status: answer.status, headers: answer.headers, body: read };
  };
  return {
    ask,
    async create(body) {
      const { status, body: made } = await ask("POST", "/v1/responses", body);
      assert.equal(status, 200, JSON.stringify(made));
      return made as EmittedResponse;
    },
  };
}

export function readEvents(text: string): EmittedEvent[] {
  return text
    .split("\n\n")
    .flatMap((frame) => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
    .map((data) => JSON.parse(data) as EmittedEvent);
}

export interface SlowUpstream extends AsyncDisposable {
  readonly url: string;
  /** How many requests have come. */
  readonly requests: number;
  /** The bodies, in the order in which they came. */
  readonly bodies: readonly string[];
  /** Answers that have begun and not ended. */
  readonly open: number;
  /** Writes more text in all open answers. */
  say(text: string): void;
  /** Ends all open answers; later requests are answered at once. */
  finish(): void;
}

/** A chat server that answers "One" at once, and the rest on command. */
export async function startSlowUpstream(): Promise<SlowUpstream> {
  const open = new Set<ServerResponse>();
  const bodies: string[] = [];
  let requests = 0;
  let isFast = false;
  const write = (response: ServerResponse, content: string): void => {
    const delta = { content };
    response.write(`data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta }] })}\n\n`);
  };
  const end = (response: ServerResponse): void => {
    const last = { index: 0, delta: {}, finish_reason: "stop" };
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    response.end(
      `data: ${JSON.stringify({ id: "c", choices: [last], usage })}\n\ndata: [DONE]\n\n`,
    );
    open.delete(response);
  };
  const server = createServer((request, response) => {
    // It has no list of models; a request for one is not a model call.
    if (request.method === "GET") return void response.writeHead(404).end();
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => bodies.push(body));
    requests++;
    response.writeHead(200, { "content-type": "text/event-stream" });
    open.add(response);
    response.on("close", () => open.delete(response));
    write(response, "One");
    if (isFast) end(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get requests() {
      return requests;
    },
    bodies,
    get open() {
      return open.size;
    },
    say: (text) => {
      for (const response of open) write(response, text);
    },
    finish() {
      isFast = true;
      for (const response of [...open]) end(response);
    },
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

/** The flags that select a slow server as the model. */
export function slowModel({ url }: Pick<SlowUpstream, "url">): string[] {
  return ["-m", "custom/slow", "--provider", "openai-chat", "--url", url];
}
