/**
 * The whole server for a program that has an HTTP server of its own: an app for `node:http` and what is built on it, a
 * function from `Request` to `Response`, and the WebSocket's upgrade. Keys, tenants, budgets, routes and takeovers are
 * those of `offshoot serve`; only the port is the program's.
 */

import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { homedir } from "node:os";
import type { Duplex } from "node:stream";
import { systemClock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { loadConfig } from "../../runtime/config/config.ts";
import { refuseUnknown } from "../../runtime/run-request.ts";
import type { RuntimeOptions } from "../../runtime/runtime.ts";
import { toRuntimeOptions } from "../../runtime/settings.ts";
import { createKey, type KeyWish } from "../guard/keys.ts";
import type { CallerOf } from "../guard/own-callers.ts";
import { type Books, openBooks } from "../running/books.ts";
import type { LoadedServer } from "../running/generation.ts";
import { openSealKey } from "../running/seal-key.ts";
import { toServerSettings } from "../running/server-settings.ts";
import { openServing } from "../running/serving.ts";
import { pickModels } from "./picked-models.ts";
import { answerWeb, withParsedBody } from "./web-app.ts";

export interface ServerAppOptions
  extends Pick<RuntimeOptions, "agents" | "provider" | "tools" | "observe"> {
  /**
   * As a settings file has them: `{ model: "openai/gpt-5.1", server: { tools: ["bash_read"] } }`. No file and no
   * `OFFSHOOT_…` variable is read beside them.
   */
  readonly settings?: JsonObject | undefined;
  /** Where vendors' keys are; that of the process when left out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The record: a SQLite file or the address of a Postgres database. Memory when left out. */
  readonly storePath?: string | undefined;
  /** 32 bytes that seal what clients get back sealed. Made with the record when left out. */
  readonly sealKey?: Uint8Array | undefined;
  /** Who asks, by the program's own rules, in place of keys. Undefined is refused with 401. */
  readonly caller?: CallerOf | undefined;
  /** Told of failures that are this server's own fault. */
  readonly onDefect?: ((thrown: unknown) => void) | undefined;
  readonly log?: Log | undefined;
}

/** Every option, so that one that is mistyped is refused and not left out in silence. */
const OPTIONS: Readonly<Record<keyof ServerAppOptions, true>> = {
  settings: true,
  env: true,
  storePath: true,
  sealKey: true,
  caller: true,
  onDefect: true,
  log: true,
  agents: true,
  provider: true,
  tools: true,
  observe: true,
};

export interface ServerApp {
  /**
   * For `createServer`, and as a middleware: with `next`, an address that is not this server's is left to the next.
   * Resolves when the answer was sent.
   */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): Promise<void>;
  /** For servers that take a `Request` and give a `Response`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For the event `upgrade` of a server: WebSockets at `/v1/responses`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Makes a key that clients send. It is shown once. */
  createKey(wish: KeyWish): Promise<string>;
  /** Waits for answers on their way, for `server.drain_seconds`, and gives everything back. False if some were cut. A second call waits for the first. */
  close(): Promise<boolean>;
}

/** Rejects what is wrong with its settings before anything is opened. */
export async function createServerApp(options: ServerAppOptions = {}): Promise<ServerApp> {
  refuseUnknown("A server has no option", options, Object.keys(OPTIONS));
  const { onDefect = () => {}, log = silentLog, env = process.env, caller } = options;
  const loaded = await load(options);
  const { storePath, startCheckBytes } = loaded.settings;
  const books = await openBooks(storePath, startCheckBytes);
  const serving = await openServing(loaded, {
    clock: systemClock,
    log,
    env,
    books,
    onDefect,
    listens: false,
    worker: undefined,
    write: (text) => log.info(text.trimEnd()),
    isDamaged: () => false,
    callerOf: caller,
  });
  let closing: Promise<boolean> | undefined;
  return {
    upgrade: serving.upgrade,
    fetch: (request) => answerWeb(serving.app, request),
    async handle(request, response, next) {
      const [path = "/"] = (request.url ?? "/").split("?", 1);
      if (next && !serving.serves(path)) return next();
      await serving.app(withParsedBody(request), response);
    },
    createKey: async (wish) => (await createKey(keysOf(books), wish)).token,
    close() {
      closing ??= serving.stop();
      return closing;
    },
  };
}

function keysOf({ shelf }: Books): Parameters<typeof createKey>[0] {
  return { shelf, clock: systemClock };
}

async function load(options: ServerAppOptions): Promise<LoadedServer> {
  const { settings: given = {}, env = process.env, agents, provider, tools, observe } = options;
  const cwd = process.cwd();
  const config = await loadConfig({ env, home: homedir(), cwd, given });
  const stderr = { isTerminal: false, write: () => {} };
  const { storePath } = options;
  const settings = {
    ...toServerSettings(config, { env, cwd, stderr, noStore: false }),
    storePath,
    log: "off" as const,
  };
  const { root } = settings.responses;
  const runtime: RuntimeOptions = {
    ...toRuntimeOptions(config, { env, cwd: root, stderr }),
    storePath,
    agents,
    provider,
    tools,
    observe,
    approvalWaitMs: undefined,
    maxPlacedHere: config.get("server.max_subagents"),
  };
  const picked = pickModels(config, provider !== undefined);
  const named = [...settings.named, ...picked.named];
  const sealKey = options.sealKey ?? (await openSeal(storePath, config.paths.dataDir));
  return { settings: { ...settings, named }, runtime, usual: picked.usual, sealKey, files: [] };
}

/** What is sealed for a record in memory is of no use after it. */
async function openSeal(storePath: string | undefined, dataDir: string): Promise<Uint8Array> {
  return storePath === undefined ? randomBytes(32) : await openSealKey(storePath, dataDir);
}
