/**
 * A whole server over each provider: the embedded model, and a scripted upstream of every wire. Tests
 * say what the model answers, and nothing of how it is reached.
 */

import { after, type TestContext } from "node:test";
import type { ModelTarget } from "../../src/runtime/responses/model-routes.ts";
import {
  type Script,
  type ScriptEngine,
  startBedrockUpstream,
  startChatUpstream,
  startGeminiUpstream,
  startLlamacppUpstream,
  startMessagesUpstream,
  startOllamaUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import type { ServerSetup } from "../server/server-bench.ts";
import { type SocketServer, startSocketServer } from "../server/socket/socket-bench.ts";

export type Engine = ScriptEngine | Script;

interface ProviderRow {
  /** `vendor/model`, one that the model table does not know: such a model is asked for everything. */
  readonly model: string;
  readonly provider: string | null;
  /** Undefined for the embedded model, which nothing is sent to. */
  readonly start: ((options: { readonly engine: Engine }) => Promise<Upstream>) | undefined;
}

export const PROVIDERS = {
  embedded: { model: "embedded/offline", provider: null, start: undefined },
  chat: { model: "custom/scripted", provider: "openai-chat", start: startChatUpstream },
  responses: {
    ...{ model: "openai/test-model", provider: "openai-responses" },
    start: startResponsesUpstream,
  },
  messages: {
    ...{ model: "anthropic/test-model", provider: "anthropic" },
    start: startMessagesUpstream,
  },
  gemini: { model: "gemini/test-model", provider: "gemini", start: startGeminiUpstream },
  ollama: { model: "ollama/test-model", provider: "ollama", start: startOllamaUpstream },
  bedrock: {
    ...{ model: "bedrock/test-model", provider: "bedrock" },
    start: startBedrockUpstream,
  },
  llamacpp: { model: "llamacpp/test-model", provider: "llamacpp", start: startLlamacppUpstream },
} as const satisfies Record<string, ProviderRow>;

export type ProviderName = keyof typeof PROVIDERS;

export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[];

export const SCRIPTED_NAMES = PROVIDER_NAMES.filter((name) => name !== "embedded");

export interface ProviderServer {
  /** Answers HTTP and WebSockets. */
  readonly server: SocketServer;
  /** Where what the model was asked is recorded; undefined for the embedded model. */
  readonly upstream: Upstream | undefined;
}

/** What `bedrock` signs with; nobody looks at it. */
const ENV = {
  PATH: process.env["PATH"],
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_REGION: "us-east-1",
};

/** Scripts break off on purpose, and would be asked again. */
const ONE_TRY = { attempts: 1, baseMs: 1, maxMs: 1, maxRetryAfterMs: 1 };

export async function startProviderServer(
  t: Pick<TestContext, "after">,
  name: ProviderName,
  engine: Engine,
  setup: ServerSetup = {},
): Promise<ProviderServer> {
  const { model, provider, start }: ProviderRow = PROVIDERS[name];
  const upstream = await start?.({ engine });
  if (upstream) t.after(() => upstream.close());
  const usual: ModelTarget = { model, provider, url: upstream?.url ?? null, api_key_name: null };
  const { settings, ...rest } = setup;
  const server = await startSocketServer(t as TestContext, engine, {
    env: ENV,
    retry: ONE_TRY,
    ...rest,
    settings: { models: { named: [], usual }, ...settings },
  });
  return { server, upstream };
}

/** For servers that all tests of a suite share: ended when the suite is. */
export function suiteContext(): Pick<TestContext, "after"> {
  const closing: (() => unknown)[] = [];
  after(async () => {
    for (const close of closing.reverse()) await close();
  });
  return {
    after: (close) => {
      if (close) closing.push(close as () => unknown);
    },
  };
}
