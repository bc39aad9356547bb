/** The user's own servers, on this machine unless an address says otherwise. */

import type { Vendor } from "../vendor.ts";
import { COMPATIBLE, STATELESS_COMPATIBLE, VLLM } from "./vendor-quirks.ts";

export const LOCAL = {
  ollama: {
    wire: "ollama",
    alternatives: ["openai-chat", "openai-responses"],
    baseUrl: "http://127.0.0.1:11434",
    baseUrlVariable: "OLLAMA_HOST",
    basePath: "",
    wirePaths: { "openai-chat": "/v1", "openai-responses": "/v1" },
    // Only a hosted Ollama requires it.
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
    quirks: { ...STATELESS_COMPATIBLE, reasoningField: "reasoning_content" },
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
    own: true,
    defaultModel: undefined,
    // An unknown server gets only the fields of the API's oldest form.
    quirks: { ...COMPATIBLE, reasoningField: "reasoning_content", extraContent: true },
    summary: "Any OpenAI-compatible server: give its base URL with --url",
  },
} as const satisfies Record<string, Vendor>;
