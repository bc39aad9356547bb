/**
 * The whole server for a program that has an HTTP server of its own: an app for `node:http` and what is built on it, a
 * function from `Request` to `Response`, and the WebSocket's upgrade. Keys, tenants, budgets, routes and takeovers are
 * those of `offshoot serve`; only the port is the program's.
 */

import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { homedir } from "node:os";
import type { Duplex } from "node:stream";
import type { JsonObject } from "../../base/json.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import type { Config } from "../../runtime/config/config.ts";
import { loadConfig } from "../../runtime/config/config.ts";
import { addressOfModel, catalogOf, nameModel } from "../../runtime/model-address.ts";
import { refuseUnknown } from "../../runtime/run-request.ts";
import type { RuntimeOptions } from "../../runtime/runtime.ts";
import type { ModelRoutes } from "../../runtime/served-models/model-routes.ts";
import { toRuntimeOptions } from "../../runtime/settings.ts";
import { createKey, type KeyWish } from "../guard/keys.ts";
import type { CallerOf } from "../guard/own-callers.ts";
import { openBooks } from "../running/books.ts";
import type { LoadedServer } from "../running/generation.ts";
import { openSealKey } from "../running/seal-key.ts";
import { toServerSettings } from "../running/server-settings.ts";
import { openServing } from "../running/serving.ts";
import { answerWeb, withParsedBody } from "./web-app.ts";

export interface ServerAppOptions
  extends Pick<RuntimeOptions, "agents" | "provider" | "tools" | "observe"> {
  /**
   * As in a settings file: `{ model: "openai/gpt-5.1", server: { tools: ["bash_read"] } }`. No settings file and no
   * `OFFSHOOT_…` variable is read.
   */
  readonly settings?: JsonObject | undefined;
  /** The environment with the vendors' keys. That of the process when left out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The record: a SQLite file or the address of a Postgres database. Memory when left out. */
  readonly storePath?: string | undefined;
  /**
   * 32 bytes that encrypt what clients get back sealed. Made and stored with the record when left out.
   */
  readonly sealKey?: Uint8Array | undefined;
  /**
   * Says who makes a request, by the program's own rules, in place of keys. Undefined is refused with 401.
   */
  readonly caller?: CallerOf | undefined;
  /** Called for each failure that is a defect of this server. */
  readonly onDefect?: ((thrown: unknown) => void) | undefined;
  readonly log?: Log | undefined;
}

/** All options, so that a mistyped one is refused and not silently ignored. */
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
   * For `createServer`, and as a middleware: with `next`, an address that is not this server's is passed on. Resolves
   * when the answer was sent.
   */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): Promise<void>;
  /** For servers that take a `Request` and give a `Response`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For the event `upgrade` of a server: opens WebSockets at `/v1/responses`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Makes a key for clients. The key is returned only here. */
  createKey(wish: KeyWish): Promise<string>;
  /**
   * Waits up to `server.drain_seconds` for answers in progress, then releases everything. Resolves with false if some
   * answers were cut. A second call waits for the first.
   */
  close(): Promise<boolean>;
}

/** Rejects invalid settings before anything is opened. */
export async function createServerApp(options: ServerAppOptions = {}): Promise<ServerApp> {
  refuseUnknown("A server has no option", options, Object.keys(OPTIONS));
  const { onDefect = () => {}, log = silentLog, env = process.env, caller } = options;
  const loaded = await load(options);
  const { storePath, startCheckBytes } = loaded.settings;
  const books = await openBooks(storePath, startCheckBytes);
  const serving = await openServing(loaded, {
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
    createKey: async (wish) => (await createKey(books, wish)).token,
    close() {
      closing ??= serving.stop();
      return closing;
    },
  };
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

/** For a record in memory, the seal key is not stored: it is of no use after the record is gone. */
async function openSeal(storePath: string | undefined, dataDir: string): Promise<Uint8Array> {
  return storePath === undefined ? randomBytes(32) : await openSealKey(storePath, dataDir);
}

/**
 * The models that a server inside another program asks. It does not look for keys or servers: a model that is not
 * named is not asked.
 *
 * For a program that answers for every model itself.
 */
const OWN: ModelTarget = { model: "custom/own", provider: null, url: null, api_key_name: null };

function pickModels(config: Config, hasProvider: boolean): Pick<ModelRoutes, "usual" | "named"> {
  const usual = findUsual(config);
  // The program's own provider answers for any name.
  if (hasProvider) return { usual: usual ?? OWN, named: [["*", usual ?? OWN]] };
  return { usual, named: [] };
}

function findUsual(config: Config): ModelTarget | undefined {
  const provider = config.get("provider");
  const model = config.get("model");
  const url = config.get("url");
  const named = nameModel({ model, provider, url }, catalogOf(config));
  if (named === undefined) return undefined;
  const { url: address, apiKeyName } = addressOfModel(config, named);
  return {
    model: named,
    provider: provider ?? null,
    url: address ?? null,
    api_key_name: apiKeyName ?? null,
  };
}
