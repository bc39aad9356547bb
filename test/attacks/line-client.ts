/**
 * A client that writes raw lines to a program of ours that speaks a protocol over standard input and output. It sends
 * whatever a test wants, answers only what it is told to, and keeps everything that came back.
 */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import type { Fault, Script, Upstream } from "../../src/testing/index.ts";
import { type CommandOptions, createPlace, type Ended, type Place } from "../e2e/command.ts";
import { serve } from "../e2e/served.ts";
import { CHAT } from "../e2e/wires.ts";
import { until } from "../patience.ts";

export interface Frame {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface LineClient {
  readonly place: Place;
  readonly upstream: Upstream;
  /** What came back, oldest first. */
  frames(): readonly Frame[];
  write(text: string): void;
  send(frame: object): void;
  request(id: unknown, method: string, params?: object): void;
  /** The answer to the request with this id. */
  answerTo(id: unknown): Promise<Frame>;
  /** The first request or notification of this method that comes. */
  called(method: string): Promise<Frame>;
  /** Closes its end, and waits for the program's. */
  leave(): Promise<Ended>;
}

interface Setup {
  readonly engine: Script;
  readonly faults?: Fault;
  readonly args?: readonly string[];
  readonly env?: CommandOptions["env"];
  readonly files?: Readonly<Record<string, string>>;
  readonly place?: Place;
}

/** `words` are those of the command: `acp`, `mcp serve`. */
export async function withLines(
  words: readonly string[],
  { engine, faults, args = [], env = {}, files = {}, place: given }: Setup,
  use: (client: LineClient) => Promise<void>,
): Promise<void> {
  const place = given ?? (await createPlace(files));
  const upstream = await CHAT.start({ engine, ...(faults ? { faults } : {}) });
  const model = { OFFSHOOT_MODEL: "custom/test-model", OFFSHOOT_URL: upstream.url };
  const input = new PassThrough();
  const command = place.start([...words, ...args], { input, env: { ...model, ...env } });
  const frames = (): Frame[] =>
    command.stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Frame);
  const find = (fits: (frame: Frame) => boolean, what: string): Promise<Frame> =>
    until(() => {
      const found = frames().find(fits);
      if (!found && command.child.exitCode !== null) {
        assert.fail(`it ended before ${what}: ${command.stdout}\n${command.stderr}`);
      }
      return found;
    }, what);
  const write = (text: string): void => void input.write(text);
  const send = (frame: object): void => write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
  try {
    await use({
      place,
      upstream,
      frames,
      write,
      send,
      request: (id, method, params = {}) => send({ id, method, params }),
      answerTo: (id) =>
        find((frame) => frame.id === id && frame.method === undefined, `the answer to ${id}`),
      called: (method) => find((frame) => frame.method === method, method),
      async leave() {
        input.end();
        return await command.ended;
      },
    });
  } finally {
    input.end();
    await command.ended.catch(() => {});
    await upstream.close();
    if (!given) await place[Symbol.asyncDispose]();
  }
}

/** Fails where the program said something that no person and no client should read. */
export function checkWords({ message }: { readonly message: string }): void {
  assert.doesNotMatch(message, /\bat .*\.(js|ts):\d|node_modules|SQLITE|ZodError|undefined/);
  assert.doesNotMatch(message, /\n\s+at /);
}

/** What another tenant of a server has stored in the record of this place, by its id. The server is gone afterwards. */
export async function storeForTenant(
  place: Place,
  env: Readonly<Record<string, string>>,
  { path, body }: { readonly path: string; readonly body: object },
): Promise<string> {
  const made = await place.run(["keys", "create", "shop", "--tenant", "shop"], { env });
  const [key] = /osk_\w+/.exec(made.stdout) ?? assert.fail(made.stderr);
  await using served = await serve({ place, hasKeys: true, env });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(`${served.url}${path}`, init);
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { id: string }).id;
}
