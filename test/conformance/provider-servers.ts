/**
 * A whole server over each provider: the embedded model, and a scripted upstream of every wire. Tests say
 * what the model answers, and not how it is reached.
 */

import { after, type TestContext } from "node:test";
import type { ModelTarget } from "../../src/responses/models/model-target.ts";
import {
  type Script,
  type ScriptEngine,
  startBedrockUpstream,
  startChatUpstream,
  startCohereUpstream,
  startGeminiUpstream,
  startLlamacppUpstream,
  startMessagesUpstream,
  startOllamaUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import type { ServerSetup } from "../server/server-fixture.ts";
import { type SocketServer, startSocketServer } from "../server/socket/socket-fixture.ts";

export type Engine = ScriptEngine | Script;

interface ProviderRow {
  /**
   * `vendor/model`, with a model that is not in the model table: such a model is assumed to support
   * everything.
   */
  readonly model: string;
  readonly provider: string | null;
  /** Undefined for the embedded model, to which nothing is sent. */
  readonly start: ((options: { readonly engine: Engine }) => Promise<Upstream>) | undefined;
  /** The base URL of the API at the upstream, if it is not the upstream's own. */
  readonly toUrl?: (url: string) => string;
  /** The variable of its token, if requests are not signed. */
  readonly keyName?: keyof typeof ENV;
  /** Other models of the same server, by their names in requests. */
  readonly others?: Readonly<Record<string, string>>;
}

/** The credentials with which `bedrock` signs, which are not checked, and the token for Google Cloud. */
const ENV = {
  PATH: process.env["PATH"],
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_REGION: "us-east-1",
  GOOGLE_TOKEN: "token-of-the-test",
};

export const PROVIDERS = {
  embedded: { model: "embedded/offline", provider: null, start: undefined },
  chat: { model: "custom/scripted", provider: "openai-chat", start: startChatUpstream },
  responses: {
    model: "openai/test-model",
    provider: "openai-responses",
    start: startResponsesUpstream,
  },
  messages: {
    model: "anthropic/test-model",
    provider: "anthropic",
    start: startMessagesUpstream,
  },
  gemini: { model: "gemini/test-model", provider: "gemini", start: startGeminiUpstream },
  cohere: { model: "cohere/test-model", provider: "cohere", start: startCohereUpstream },
  ollama: { model: "ollama/test-model", provider: "ollama", start: startOllamaUpstream },
  bedrock: {
    model: "bedrock/test-model",
    provider: "bedrock",
    others: { claude: "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0" },
    start: startBedrockUpstream,
  },
  llamacpp: { model: "llamacpp/test-model", provider: "llamacpp", start: startLlamacppUpstream },
} as const satisfies Record<string, ProviderRow>;

export type ProviderName = keyof typeof PROVIDERS;

export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[];

export const SCRIPTED_NAMES = PROVIDER_NAMES.filter((name) => name !== "embedded");

/**
 * The APIs of above at Google Cloud: other addresses, nearly the same form. They are for suites that must
 * run over every wire.
 */
const AT_GOOGLE = {
  "messages at Google Cloud": {
    model: "vertexai/test-model",
    provider: "vertexai-anthropic",
    keyName: "GOOGLE_TOKEN",
    start: (options) =>
      startMessagesUpstream({ ...options, platform: "vertex", key: ENV.GOOGLE_TOKEN }),
  },
  "gemini at Google Cloud": {
    model: "vertex/test-model",
    provider: "vertexai-gemini",
    keyName: "GOOGLE_TOKEN",
    start: (options) =>
      startGeminiUpstream({
        ...options,
        includeIds: false,
        isPartial: true,
        key: ENV.GOOGLE_TOKEN,
      }),
    toUrl: (url) => url.replace("/v1beta", "/v1/projects/p1/locations/global"),
  },
} as const satisfies Record<string, ProviderRow>;

/** A vendor of chat completions whose own parameters are tested beside those of the API. */
const ROUTERS = {
  openrouter: {
    model: "openrouter/test/claude-test",
    provider: "openai-chat",
    start: (options) =>
      startChatUpstream({ ...options, router: true, reasoningField: "reasoning" }),
  },
} as const satisfies Record<string, ProviderRow>;

export const SERVED: Readonly<Record<ServedName, ProviderRow>> = {
  ...PROVIDERS,
  ...AT_GOOGLE,
  ...ROUTERS,
};

type ServedName = ProviderName | keyof typeof AT_GOOGLE | keyof typeof ROUTERS;

/** One for each wire, at any vendor. */
export const SERVED_NAMES: readonly ServedName[] = [
  ...PROVIDER_NAMES,
  ...(Object.keys(AT_GOOGLE) as (keyof typeof AT_GOOGLE)[]),
];

export interface ProviderServer {
  /** Answers HTTP and WebSockets. */
  readonly server: SocketServer;
  /** Records the model's requests; undefined for the embedded model. */
  readonly upstream: Upstream | undefined;
}

/** Scripts break off on purpose, and would be retried. */
const ONE_TRY = { attempts: 1, baseMs: 1, maxMs: 1, maxRetryAfterMs: 1 };

export async function startProviderServer(
  t: Pick<TestContext, "after">,
  name: ServedName,
  engine: Engine,
  setup: ServerSetup = {},
): Promise<ProviderServer> {
  const {
    model,
    provider,
    start,
    toUrl = (own) => own,
    keyName = null,
    others = {},
  } = SERVED[name];
  const upstream = await start?.({ engine });
  if (upstream) t.after(() => upstream.close());
  const url = upstream ? toUrl(upstream.url) : null;
  const usual: ModelTarget = { model, provider, url, api_key_name: keyName };
  const named = Object.entries(others).map(([own, other]): [string, ModelTarget] => [
    own,
    { ...usual, model: other },
  ]);
  const { settings, ...rest } = setup;
  const server = await startSocketServer(t as TestContext, engine, {
    env: ENV,
    retry: ONE_TRY,
    ...rest,
    settings: { models: { named, usual }, ...settings },
  });
  return { server, upstream };
}

/** For servers that all tests of a suite share: ended with the suite. */
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
