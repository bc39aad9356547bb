/** Every wire with its own strict upstream, as one table: every contract test runs over all of them. */

import { createAwsSign } from "../../src/providers/bedrock/aws-auth.ts";
import {
  createHttpProvider,
  type HttpProviderOptions,
} from "../../src/providers/http/http-provider.ts";
import type { Transport } from "../../src/providers/http/transport.ts";
import type { Provider } from "../../src/providers/provider.ts";
import type { WireName } from "../../src/providers/wire.ts";
import { loadWire } from "../../src/providers/wires.ts";
import {
  type Faults,
  type Script,
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
import { PATIENCE_MS, PATIENT_TIMEOUTS } from "../patience.ts";
import type { Traits } from "./provider-contract.ts";
import type { Words } from "./request-contract.ts";

interface StartOptions {
  readonly engine: Script;
  readonly faults?: Faults;
}

export interface ContractWire {
  readonly name: string;
  readonly wire: WireName;
  readonly start: (options: StartOptions) => Promise<Upstream>;
  /** Further needs of the provider: a signature, another address of the same server. */
  readonly more?: (upstream: Upstream) => Partial<HttpProviderOptions>;
  readonly traits: Traits;
  /** Undefined for a server that does not support all of its API. */
  readonly words?: Words;
}

const AWS = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_REGION: "us-east-1",
};
const CALLERS = [
  { accessKeyId: AWS.AWS_ACCESS_KEY_ID, secretAccessKey: AWS.AWS_SECRET_ACCESS_KEY },
];

const SAMPLING = ["stop", "frequency_penalty", "presence_penalty", "top_logprobs"] as const;
const WHO_AND_HOW = [
  "top_logprobs",
  "verbosity",
  "service_tier",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
] as const;
const RESPONSES: Words = {
  options: [...WHO_AND_HOW, "metadata"],
  allowed: "list",
  hasWhole: true,
};
const CLAUDE: Words = {
  options: ["stop", "user", "safety_identifier", "prompt_cache_retention"],
  hasSound: false,
};
const GEMINI: Words = {
  options: [...SAMPLING, "service_tier"],
  allowed: "list",
  canSerialize: false,
};

export const CONTRACT_WIRES: readonly ContractWire[] = [
  {
    name: "openai-chat",
    wire: "openai-chat",
    start: startChatUpstream,
    traits: {},
    words: { options: [...SAMPLING, ...WHO_AND_HOW], hasWhole: true },
  },
  {
    name: "openai-responses against the real API's rules",
    wire: "openai-responses",
    start: startResponsesUpstream,
    traits: {},
    words: RESPONSES,
  },
  {
    name: "openai-responses against the older vocabulary",
    wire: "openai-responses",
    start: (options) => startResponsesUpstream({ ...options, personality: "legacy" }),
    traits: { hasRefusals: false },
  },
  {
    name: "anthropic",
    wire: "anthropic",
    start: startMessagesUpstream,
    traits: { hasJsonObject: false },
    words: { ...CLAUDE, options: [...CLAUDE.options, "service_tier"] },
  },
  {
    name: "vertexai-anthropic",
    wire: "vertexai-anthropic",
    start: (options) => startMessagesUpstream({ ...options, platform: "vertex" }),
    traits: { hasJsonObject: false },
    words: CLAUDE,
  },
  {
    name: "gemini",
    wire: "gemini",
    start: startGeminiUpstream,
    traits: { schemaWord: '"responseJsonSchema"' },
    words: GEMINI,
  },
  {
    name: "vertexai-gemini, with calls in pieces and without ids",
    wire: "vertexai-gemini",
    start: (options) => startGeminiUpstream({ ...options, includeIds: false, isPartial: true }),
    more: ({ url }) => ({ baseUrl: url.replace("/v1beta", "/v1/projects/p1/locations/global") }),
    traits: { schemaWord: '"responseJsonSchema"' },
    words: GEMINI,
  },
  {
    name: "cohere",
    wire: "cohere",
    start: startCohereUpstream,
    // A refusal is text there, PDFs are refused, and reasoning tokens are not reported.
    traits: { hasRefusals: false, hasDocuments: false, countsReasoning: false },
    words: {
      options: ["stop", "frequency_penalty", "presence_penalty"],
      canSerialize: false,
      hasSound: false,
      hasPdfs: false,
      hasWhole: true,
    },
  },
  {
    name: "ollama",
    wire: "ollama",
    start: startOllamaUpstream,
    // A refusal is text there, PDFs are refused, counts are not detailed, JSON lines end with LF.
    traits: {
      hasRefusals: false,
      hasDocuments: false,
      countsParts: false,
      schemaWord: '"format":{',
      breakingFaults: ["CR"],
    },
    words: {
      options: SAMPLING,
      canForce: false,
      canSerialize: false,
      hasSound: false,
      hasImageUrls: false,
      hasPdfs: false,
    },
  },
  {
    name: "llamacpp",
    wire: "llamacpp",
    start: startLlamacppUpstream,
    traits: { hasDocuments: false },
    words: { options: SAMPLING, hasPdfs: false, hasWhole: true },
  },
  {
    name: "bedrock",
    wire: "bedrock",
    start: (options) => startBedrockUpstream({ ...options, callers: CALLERS }),
    more: () => ({ sign: createAwsSign(AWS) }),
    // Frames are binary: bytes before the first one are not a frame.
    traits: { hasJsonObject: false, countsReasoning: false, breakingFaults: ["BOM"] },
    words: { options: ["stop", "service_tier"], canSerialize: false, hasImageUrls: false },
  },
];

/** Only a limit ends silence. */
const SILENT = { connectMs: PATIENCE_MS, firstByteMs: 100, idleMs: 100 };

/** A provider for the wire and the upstream, with limits as short as the test needs them. */
export async function providerOver(
  { name, wire, more }: ContractWire,
  upstream: Upstream,
  { transport, isSilent = false }: { transport: Transport; isSilent?: boolean },
): Promise<Provider> {
  return createHttpProvider({
    vendor: name,
    wire: await loadWire(wire),
    baseUrl: upstream.url,
    headers: {},
    quirks: {},
    transport,
    retry: { attempts: 2, baseMs: 1, maxMs: 2, maxRetryAfterMs: 1000 },
    timeouts: isSilent ? SILENT : PATIENT_TIMEOUTS,
    ...more?.(upstream),
  });
}
