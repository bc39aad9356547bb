/**
 * Looks for a model server on this machine. All addresses are asked in parallel and each has little time:
 * if nothing listens, a connection is refused at once, so the search usually takes about a millisecond.
 *
 * Many programs listen on port 8080, so an answer counts only if it has the server's own form.
 */

import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { Transport } from "../http/transport.ts";
import { baseUrlOf } from "./base-url.ts";
import { vendorOf } from "./catalog.ts";

export type LocalVendor = "ollama" | "llamacpp" | "lmstudio" | "vllm";

export interface LocalServer {
  readonly vendor: LocalVendor;
  /** The first model that can chat. */
  readonly model: string;
  /** In the form that the vendor's wire expects, with its `/v1`. */
  readonly baseUrl: string;
}

/** Reads a URL: the parsed JSON of a success, or undefined for anything else. Never rejects. */
export type Probe = (url: string, signal: AbortSignal) => Promise<unknown>;

export interface LocalSearch {
  readonly probe: Probe;
  readonly signal?: AbortSignal;
  /** The addresses to ask instead of the usual ports, each without the `/v1`. */
  readonly origins?: Origins;
  /** How long a server at one of `origins` has to answer. */
  readonly namedLimitMs?: number;
}

type Origins = Partial<Readonly<Record<LocalVendor, string>>>;

/** A local server answers in a few milliseconds, and the user waits for this before each run. */
const LIMIT_MS = 300;

/** A server that the user has named may be busy. */
const NAMED_LIMIT_MS = 2000;

/** Enough for a list of a thousand models. */
const MAX_BYTES = 1024 * 1024;

/** The first server that has a model, in the order Ollama, llama.cpp, LM Studio, vLLM. */
export async function findLocalServer(search: LocalSearch): Promise<LocalServer | undefined> {
  return (await findLocalServers(search))[0];
}

/** All such servers, in that order. */
export async function findLocalServers(search: LocalSearch): Promise<LocalServer[]> {
  const { probe, origins = {}, namedLimitMs = NAMED_LIMIT_MS } = search;
  const found = await Promise.all(
    SERVERS.map(async ({ vendor, origin, find }): Promise<LocalServer | undefined> => {
      const at = origins[vendor] ?? origin;
      const limit = AbortSignal.timeout(origins[vendor] === undefined ? LIMIT_MS : namedLimitMs);
      const signal = search.signal ? AbortSignal.any([search.signal, limit]) : limit;
      const model = await find((path) => probe(at + path, signal));
      return model === undefined ? undefined : { vendor, model, baseUrl: `${at}/v1` };
    }),
  );
  return found.filter((server) => server !== undefined);
}

/** The addresses in the vendors' own variables, such as `OLLAMA_HOST`. Throws for an invalid URL. */
export function originsIn(env: Readonly<Record<string, string | undefined>>): Origins {
  const moved = SERVERS.filter(({ vendor }) => env[vendorOf(vendor).baseUrlVariable ?? ""]);
  return Object.fromEntries(
    moved.map(({ vendor }) => [
      vendor,
      baseUrlOf(vendor, { url: undefined, env }).replace(/\/v1$/, ""),
    ]),
  );
}

/** Only the signal of the search limits the time. */
const NO_TIMEOUTS = { connectMs: 2 ** 31 - 1, firstByteMs: 2 ** 31 - 1, idleMs: 2 ** 31 - 1 };

/** A probe over the network. It reads at most this much, because another program may answer. */
export function createProbe(transport: Transport): Probe {
  return async (url, signal) => {
    try {
      const request = {
        method: "GET",
        url,
        headers: {},
        body: undefined,
        signal,
        timeouts: NO_TIMEOUTS,
      } as const;
      const { status, chunks } = await transport.send(request);
      const body: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of chunks) {
        body.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_BYTES) return undefined;
      }
      return status === 200 ? tryParseJson(Buffer.concat(body).toString()) : undefined;
    } catch {
      // There is no server, it is slow, or it has another API.
      return undefined;
    }
  };
}

/** Reads a path of the server. */
type Ask = (path: string) => Promise<unknown>;

const SERVERS: readonly {
  readonly vendor: LocalVendor;
  readonly origin: string;
  /** The model's name; undefined if this is another server or it has no model. */
  readonly find: (ask: Ask) => Promise<string | undefined>;
}[] = [
  { vendor: "ollama", origin: "http://127.0.0.1:11434", find: findInOllama },
  { vendor: "llamacpp", origin: "http://127.0.0.1:8080", find: findInLlamaCpp },
  { vendor: "lmstudio", origin: "http://127.0.0.1:1234", find: findInLmStudio },
  { vendor: "vllm", origin: "http://127.0.0.1:8000", find: findInVllm },
];

/** `/api/tags` lists the newest first, which is the last one that the user pulled. */
async function findInOllama(ask: Ask): Promise<string | undefined> {
  const tags = await ask("/api/tags");
  return firstName(listIn(tags, "models"), "name");
}

/** While it loads a model, `/health` fails, and a request would be answered with a 503. */
async function findInLlamaCpp(ask: Ask): Promise<string | undefined> {
  const [health, models] = await Promise.all([ask("/health"), ask("/v1/models")]);
  if (!isJsonObject(health) || health["status"] !== "ok") return undefined;
  const own = listIn(models, "data").filter(
    (entry) => isJsonObject(entry) && entry["owned_by"] === "llamacpp",
  );
  return firstName(own, "id");
}

async function findInLmStudio(ask: Ask): Promise<string | undefined> {
  const models = await ask("/v1/models");
  if (!isJsonObject(models) || models["object"] !== "list") return undefined;
  return firstName(listIn(models, "data"), "id");
}

/** Many programs listen on port 8000. A model of vLLM names its owner. */
async function findInVllm(ask: Ask): Promise<string | undefined> {
  const models = await ask("/v1/models");
  const own = listIn(models, "data").filter(
    (entry) => isJsonObject(entry) && entry["owned_by"] === "vllm",
  );
  return firstName(own, "id");
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const list = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(list) ? list : [];
}

// Embedding models are in the same list. Their names are the only sign that both servers give.
const CANNOT_TALK = /embed|bge-|minilm|rerank/i;

function firstName(entries: readonly unknown[], key: string): string | undefined {
  for (const entry of entries) {
    const name = isJsonObject(entry) ? entry[key] : undefined;
    if (typeof name === "string" && name !== "" && !CANNOT_TALK.test(name)) return name;
  }
  return undefined;
}
