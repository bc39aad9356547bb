/**
 * The models of a scripted Ollama: those it has, those it could pull, and its answers about both.
 */

import type { JsonObject } from "../../base/json.ts";

export interface OllamaUpstreamModel {
  /** The abilities that the real server checks a request against: `completion`, `tools`, `thinking`, `vision`. */
  readonly capabilities: readonly string[];
  readonly bytes?: number;
  readonly contextTokens?: number;
}

export type OllamaModels = Readonly<Record<string, OllamaUpstreamModel>>;

/** A model that can do everything, and one that can only talk. */
export const OLLAMA_MODELS: OllamaModels = {
  "test-model": { capabilities: ["completion", "tools", "thinking", "vision"] },
  "plain-model": { capabilities: ["completion"] },
};

/** Names without a tag mean `latest`. */
export function findOllamaModel(
  models: ReadonlyMap<string, OllamaUpstreamModel>,
  name: string,
): OllamaUpstreamModel | undefined {
  return models.get(name) ?? models.get(name.replace(/:latest$/, ""));
}

/** `GET /api/tags`. */
export function encodeTags(models: ReadonlyMap<string, OllamaUpstreamModel>): JsonObject {
  const entries = [...models].map(([name, { bytes = 1_000_000 }]) => ({
    name: withTag(name),
    model: withTag(name),
    modified_at: "2026-01-01T00:00:00Z",
    size: bytes,
    digest: digestOf(name),
    details: DETAILS,
  }));
  return { models: entries };
}

/** `POST /api/show`. */
export function encodeShow({
  capabilities,
  contextTokens = 32_768,
}: OllamaUpstreamModel): JsonObject {
  return {
    modelfile: "# Modelfile",
    template: "{{ .Prompt }}",
    details: DETAILS,
    model_info: { "general.architecture": "tiny", "tiny.context_length": contextTokens },
    capabilities,
    modified_at: "2026-01-01T00:00:00Z",
  };
}

/** The progress of `POST /api/pull`: two layers, each in three steps. */
export function* encodePull(bytes: number): Generator<JsonObject> {
  yield { status: "pulling manifest" };
  for (const [layer, total] of [bytes - Math.floor(bytes / 4), Math.floor(bytes / 4)].entries()) {
    const digest = digestOf(`layer ${layer}`);
    const status = `pulling ${digest.slice(7, 19)}`;
    for (const share of [0, 0.5, 1]) {
      const completed = Math.floor(total * share);
      // The real server leaves out a zero.
      yield { status, digest, total, ...(completed > 0 ? { completed } : {}) };
    }
  }
  yield { status: "verifying sha256 digest" };
  yield { status: "writing manifest" };
  yield { status: "success" };
}

export function withTag(name: string): string {
  return name.includes(":") ? name : `${name}:latest`;
}

const DETAILS = {
  parent_model: "",
  format: "gguf",
  family: "tiny",
  families: ["tiny"],
  parameter_size: "1M",
  quantization_level: "F32",
};

/** A digest that is the same for the same name, and as long as a real one. */
function digestOf(name: string): string {
  return `sha256:${Buffer.from(name).toString("hex").padEnd(64, "0").slice(0, 64)}`;
}
