/**
 * Every vendor we know, one row each. A vendor that speaks a known wire is a new row, and no code.
 *
 * The order of the rows is the order in which keys in the environment are looked for. A row whose
 * `defaultModel` is undefined is never chosen that way: its models have no name everyone shares.
 */

import type { Quirks } from "../wire.ts";
import type { WireName } from "../wires.ts";
import { OPENAI_NATIVE } from "./openai-native.ts";
import {
  ALIBABA,
  COMPATIBLE,
  DEEPSEEK,
  GROQ,
  MISTRAL,
  MOONSHOT,
  OPENAI_ALONE,
  OPENROUTER,
  STATELESS_COMPATIBLE,
  VLLM,
  ZAI,
} from "./vendor-quirks.ts";

export type KeyHeader = "api-key" | "x-api-key" | "x-goog-api-key";

export interface Vendor {
  readonly wire: WireName;
  /** Other wires this vendor speaks. */
  readonly alternatives?: readonly WireName[];
  /** Empty where every user has another one: it is given, or follows from the environment. */
  readonly baseUrl: string;
  /** The environment variable that overrides `baseUrl`. */
  readonly baseUrlVariable?: string;
  /** Appended to an override that is a bare host: `https://me.openai.azure.com`. */
  readonly basePath?: string;
  /** What stands behind the base URL for a wire, where the vendor's wires differ in it. */
  readonly wirePaths?: Readonly<Partial<Record<WireName, string>>>;
  /** The variable that holds the key. Without a key nothing is sent, unless the vendor is `local`. */
  readonly keyVariable: string | undefined;
  readonly otherKeyVariables?: readonly string[];
  /**
   * The header a key is sent in, when there is one; `google` and `aws` sign each request with the
   * credentials that the machine has.
   */
  readonly auth: "bearer" | KeyHeader | "google" | "aws" | "none";
  /** Where a person gets a key. */
  readonly keyUrl?: string;
  /** A server of the user's own: it may ask for no key, and what it serves only its user knows. */
  readonly local: boolean;
  readonly defaultModel: string | undefined;
  readonly quirks: Quirks;
  /** Types of tools and items, beyond functions, that its own wire knows. */
  readonly native?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** One line for the docs. */
  readonly summary: string;
}

export const VENDORS = {
  openai: {
    wire: "openai-responses",
    alternatives: ["openai-chat"],
    baseUrl: "https://api.openai.com/v1",
    baseUrlVariable: "OPENAI_BASE_URL",
    keyVariable: "OPENAI_API_KEY",
    auth: "bearer",
    keyUrl: "https://platform.openai.com/api-keys",
    local: false,
    defaultModel: "gpt-6.1-terra",
    // `max_tokens` is refused by reasoning models, its successor by none.
    quirks: { maxTokensField: "max_completion_tokens", effortNone: true },
    native: OPENAI_NATIVE,
    summary: "OpenAI",
  },
  anthropic: {
    wire: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    basePath: "/v1",
    keyVariable: "ANTHROPIC_API_KEY",
    auth: "x-api-key",
    keyUrl: "https://platform.claude.com/settings/keys",
    local: false,
    defaultModel: "claude-sonnet-5-5",
    quirks: {},
    summary: "Anthropic: Claude",
  },
  gemini: {
    wire: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
    basePath: "/v1beta",
    keyVariable: "GEMINI_API_KEY",
    otherKeyVariables: ["GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    auth: "x-goog-api-key",
    keyUrl: "https://aistudio.google.com/apikey",
    local: false,
    defaultModel: "gemini-3.8-flash",
    quirks: {},
    summary: "Google Gemini (AI Studio)",
  },
  vertexai: {
    wire: "vertexai-anthropic",
    baseUrl: "",
    keyVariable: undefined,
    auth: "google",
    local: false,
    defaultModel: undefined,
    quirks: {},
    summary: "Claude at Google Cloud (Vertex AI)",
  },
  vertex: {
    wire: "vertexai-gemini",
    baseUrl: "",
    keyVariable: undefined,
    auth: "google",
    local: false,
    defaultModel: undefined,
    quirks: {},
    summary: "Gemini at Google Cloud (Vertex AI)",
  },
  bedrock: {
    wire: "bedrock",
    baseUrl: "",
    baseUrlVariable: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    keyVariable: undefined,
    auth: "aws",
    local: false,
    defaultModel: undefined,
    quirks: {},
    summary: "Amazon Bedrock: models of many makers, by their ids or ARNs",
  },
  azure: {
    wire: "openai-responses",
    alternatives: ["openai-chat"],
    baseUrl: "",
    baseUrlVariable: "AZURE_OPENAI_ENDPOINT",
    basePath: "/openai/v1",
    keyVariable: "AZURE_OPENAI_API_KEY",
    auth: "api-key",
    keyUrl: "https://ai.azure.com",
    local: false,
    defaultModel: undefined,
    quirks: { maxTokensField: "max_completion_tokens", effortNone: true },
    summary: "Azure OpenAI, v1 API: the model is the name of your deployment",
  },
  openrouter: {
    wire: "openai-chat",
    alternatives: ["openai-responses"],
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    auth: "bearer",
    keyUrl: "https://openrouter.ai/keys",
    local: false,
    defaultModel: "openrouter/auto",
    quirks: OPENROUTER,
    headers: { "X-Title": "Offshoot" },
    summary: "OpenRouter: models of many vendors, named vendor/model",
  },
  groq: {
    wire: "openai-chat",
    alternatives: ["openai-responses"],
    baseUrl: "https://api.groq.com/openai/v1",
    keyVariable: "GROQ_API_KEY",
    auth: "bearer",
    keyUrl: "https://console.groq.com/keys",
    local: false,
    defaultModel: "openai/gpt-oss-120b",
    quirks: GROQ,
    summary: "Groq: open models, fast",
  },
  together: {
    wire: "openai-chat",
    baseUrl: "https://api.together.ai/v1",
    keyVariable: "TOGETHER_API_KEY",
    auth: "bearer",
    keyUrl: "https://api.together.ai/settings/api-keys",
    local: false,
    defaultModel: "openai/gpt-oss-120b",
    quirks: { ...COMPATIBLE, reasoningField: "reasoning" },
    summary: "Together AI: open models",
  },
  mistral: {
    wire: "openai-chat",
    baseUrl: "https://api.mistral.ai/v1",
    keyVariable: "MISTRAL_API_KEY",
    auth: "bearer",
    keyUrl: "https://console.mistral.ai/api-keys",
    local: false,
    defaultModel: "mistral-medium-latest",
    quirks: MISTRAL,
    summary: "Mistral AI",
  },
  deepseek: {
    wire: "openai-chat",
    alternatives: ["openai-responses"],
    baseUrl: "https://api.deepseek.com",
    keyVariable: "DEEPSEEK_API_KEY",
    auth: "bearer",
    keyUrl: "https://platform.deepseek.com/api_keys",
    local: false,
    defaultModel: "deepseek-flash",
    quirks: DEEPSEEK,
    summary: "DeepSeek",
  },
  xai: {
    wire: "openai-chat",
    alternatives: ["openai-responses"],
    baseUrl: "https://api.x.ai/v1",
    keyVariable: "XAI_API_KEY",
    auth: "bearer",
    keyUrl: "https://console.x.ai",
    local: false,
    defaultModel: "grok-4.7",
    quirks: { ...COMPATIBLE, maxTokensField: "max_completion_tokens" },
    summary: "xAI",
  },
  cohere: {
    wire: "cohere",
    baseUrl: "https://api.cohere.com/v2",
    baseUrlVariable: "CO_API_URL",
    basePath: "/v2",
    keyVariable: "COHERE_API_KEY",
    otherKeyVariables: ["CO_API_KEY"],
    auth: "bearer",
    keyUrl: "https://dashboard.cohere.com/api-keys",
    local: false,
    defaultModel: "command-a-03-2025",
    quirks: {},
    summary: "Cohere: Command",
  },
  fireworks: {
    wire: "openai-chat",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyVariable: "FIREWORKS_API_KEY",
    auth: "bearer",
    keyUrl: "https://app.fireworks.ai/settings/users/api-keys",
    local: false,
    defaultModel: "accounts/fireworks/models/gpt-oss-120b",
    quirks: { ...COMPATIBLE, reasoningField: "reasoning_content" },
    summary: "Fireworks AI: open models",
  },
  cerebras: {
    wire: "openai-chat",
    baseUrl: "https://api.cerebras.ai/v1",
    keyVariable: "CEREBRAS_API_KEY",
    auth: "bearer",
    keyUrl: "https://cloud.cerebras.ai",
    local: false,
    defaultModel: "gpt-oss-120b",
    quirks: { refuses: OPENAI_ALONE, maxTokensField: "max_completion_tokens" },
    summary: "Cerebras: open models, fast",
  },
  nvidia: {
    wire: "openai-chat",
    baseUrl: "https://integrate.api.nvidia.com/v1",
    keyVariable: "NVIDIA_API_KEY",
    auth: "bearer",
    keyUrl: "https://build.nvidia.com",
    local: false,
    defaultModel: undefined,
    quirks: COMPATIBLE,
    summary: "NVIDIA NIM: open models",
  },
  moonshot: {
    wire: "openai-chat",
    baseUrl: "https://api.moonshot.ai/v1",
    keyVariable: "MOONSHOT_API_KEY",
    auth: "bearer",
    keyUrl: "https://platform.moonshot.ai/console/api-keys",
    local: false,
    defaultModel: undefined,
    quirks: MOONSHOT,
    summary: "Moonshot AI: Kimi",
  },
  zai: {
    wire: "openai-chat",
    baseUrl: "https://api.z.ai/api/paas/v4",
    keyVariable: "ZAI_API_KEY",
    otherKeyVariables: ["ZHIPU_API_KEY"],
    auth: "bearer",
    keyUrl: "https://z.ai/manage-apikey/apikey-list",
    local: false,
    defaultModel: undefined,
    quirks: ZAI,
    summary: "Z.ai: GLM",
  },
  alibaba: {
    wire: "openai-chat",
    alternatives: ["openai-responses"],
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    keyVariable: "DASHSCOPE_API_KEY",
    auth: "bearer",
    keyUrl: "https://modelstudio.console.alibabacloud.com",
    local: false,
    defaultModel: "qwen-plus",
    quirks: ALIBABA,
    summary: "Alibaba Cloud Model Studio: Qwen",
  },
  huggingface: {
    wire: "openai-chat",
    baseUrl: "https://router.huggingface.co/v1",
    keyVariable: "HF_TOKEN",
    auth: "bearer",
    keyUrl: "https://huggingface.co/settings/tokens",
    local: false,
    // The token is on many machines for downloads alone, so it is no wish to be billed.
    defaultModel: undefined,
    quirks: COMPATIBLE,
    summary: "Hugging Face Inference Providers: open models",
  },
  ollama: {
    wire: "ollama",
    alternatives: ["openai-chat", "openai-responses"],
    baseUrl: "http://127.0.0.1:11434",
    baseUrlVariable: "OLLAMA_HOST",
    basePath: "",
    wirePaths: { "openai-chat": "/v1", "openai-responses": "/v1" },
    // Asked for by a hosted Ollama alone.
    keyVariable: "OLLAMA_API_KEY",
    auth: "bearer",
    local: true,
    defaultModel: undefined,
    quirks: STATELESS_COMPATIBLE,
    summary: "Ollama on this machine",
  },
  llamacpp: {
    wire: "llamacpp",
    alternatives: ["openai-chat", "openai-responses"],
    baseUrl: "http://127.0.0.1:8080/v1",
    keyVariable: "LLAMA_API_KEY",
    auth: "bearer",
    local: true,
    defaultModel: undefined,
    quirks: STATELESS_COMPATIBLE,
    summary: "llama.cpp's llama-server on this machine",
  },
  lmstudio: {
    wire: "openai-chat",
    alternatives: ["openai-responses"],
    baseUrl: "http://127.0.0.1:1234/v1",
    keyVariable: "LM_API_TOKEN",
    auth: "bearer",
    local: true,
    defaultModel: undefined,
    quirks: { ...COMPATIBLE, reasoningField: "reasoning" },
    summary: "LM Studio on this machine",
  },
  vllm: {
    wire: "openai-chat",
    alternatives: ["openai-responses"],
    baseUrl: "http://127.0.0.1:8000/v1",
    keyVariable: "VLLM_API_KEY",
    auth: "bearer",
    local: true,
    defaultModel: undefined,
    quirks: VLLM,
    summary: "vLLM on this machine",
  },
  custom: {
    wire: "openai-chat",
    alternatives: ["openai-responses"],
    baseUrl: "",
    keyVariable: undefined,
    auth: "bearer",
    local: true,
    defaultModel: undefined,
    // Of a server we know nothing of, the fields of the API's oldest form are asked.
    quirks: { ...COMPATIBLE, reasoningField: "reasoning_content", extraContent: true },
    summary: "Any OpenAI-compatible server: give its base URL with --url",
  },
} as const satisfies Record<string, Vendor>;

export type VendorName = keyof typeof VENDORS;

export const VENDOR_NAMES = Object.keys(VENDORS) as readonly VendorName[];

export function isVendor(name: string): name is VendorName {
  return Object.hasOwn(VENDORS, name);
}

/** The row as its interface: `VENDORS[name]` is typed by the literal row, without its options. */
export function vendorOf(name: VendorName): Vendor {
  return VENDORS[name];
}
