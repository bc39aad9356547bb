/** The built server over a scripted model, for unmodified clients. */

import type { JsonObject } from "../../../src/base/json.ts";
import { type Script, type ScriptEngine, startChatUpstream } from "../../../src/testing/index.ts";
import { type Served, serve } from "../../e2e/served.ts";
import { PATIENCE_MS } from "../../patience.ts";

/** The key of every client. */
export const KEY = "clients-own-key";

/** For clients that would wait for ever. */
export const TIMEOUT = { timeout: PATIENCE_MS } as const;

export interface ClientBench extends AsyncDisposable {
  readonly served: Served;
  /** The base URL of clients, which ends in `/v1`. */
  readonly baseURL: string;
  /** The requests to the model, oldest first. */
  readonly asked: readonly ChatBody[];
}

/** The part of a chat request that the tests read. */
export interface ChatBody {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: ChatFunction }[];
  readonly [field: string]: unknown;
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly JsonObject[] | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: JsonObject }[];
  readonly tool_call_id?: string;
}

interface ChatFunction extends JsonObject {
  readonly name: string;
}

interface BenchOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A server whose model is a chat server that answers as `engine` says. */
export async function serveScript(
  engine: Script | ScriptEngine,
  { args = [], env = {} }: BenchOptions = {},
): Promise<ClientBench> {
  const upstream = await startChatUpstream({ engine });
  const model = ["-m", "custom/scripted", "--provider", "openai-chat", "--url", upstream.url];
  const served = await serve({ key: KEY, args: [...model, ...args], env }).catch(
    async (thrown: unknown) => {
      await upstream.close();
      throw thrown;
    },
  );
  return {
    served,
    baseURL: `${served.url}/v1`,
    get asked() {
      return upstream.requests.map(({ body }) => body as unknown as ChatBody);
    },
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/** A server whose model is the embedded one. */
export async function serveEmbedded(options: BenchOptions = {}): Promise<ClientBench> {
  const served = await serve({ key: KEY, ...options });
  return {
    served,
    baseURL: `${served.url}/v1`,
    asked: [],
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

/** The names of the tools that the model was offered. */
export function toolNames({ tools = [] }: ChatBody): string[] {
  return tools.map(({ function: { name } }) => name);
}
