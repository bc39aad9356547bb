/**
 * Fields that clients of compatible servers send beside the published ones (`top_k`, `seed`), and their
 * names at each vendor. A field is passed on only if this table says that the vendor accepts it: some
 * vendors refuse a whole request because of one unknown name.
 */

import type { Json, JsonObject } from "../../base/json.ts";
import { layOver } from "../../protocol/own-options.ts";
import { parseModelId } from "../bedrock/model-id.ts";
import { isVendor, type VendorName } from "../vendors/catalog.ts";
import type { WireName } from "../wire.ts";
import { isWire } from "../wires.ts";

/**
 * Fields that choose how tokens are sampled. They add no cost and reveal nothing, so every key that may
 * set `temperature` may set these. All others need a permission of the key.
 */
export const SAMPLING_FIELDS = [
  "top_k",
  "min_p",
  "top_a",
  "typical_p",
  "seed",
  "logit_bias",
  "repetition_penalty",
  "repeat_penalty",
  "min_tokens",
  "chat_template_kwargs",
  "enable_thinking",
] as const;

/** A map from the name that clients use to the path in the vendor's body. A dot leads into an object. */
type Places = Readonly<Record<string, string>>;

const GEMINI: Places = {
  top_k: "generationConfig.topK",
  seed: "generationConfig.seed",
  safetySettings: "safetySettings",
  safety_settings: "safetySettings",
  cachedContent: "cachedContent",
  cached_content: "cachedContent",
};

/**
 * Fields for where a request runs, how fast, with which skills, and which models replace a failed one. Each
 * may cost more than is counted.
 */
const MESSAGES: Places = asNamed(["top_k", "container", "inference_geo", "speed", "fallbacks"]);

const BEDROCK: Places = {
  ...asNamed(["guardrailConfig", "performanceConfig", "requestMetadata"]),
  guardrail_config: "guardrailConfig",
};

/** At Bedrock each maker has fields of its own, or none. */
const MAKERS = {
  anthropic: { top_k: "additionalModelRequestFields.top_k" },
  amazon: { top_k: "additionalModelRequestFields.inferenceConfig.topK" },
  cohere: inside("additionalModelRequestFields", { top_k: "k", seed: "seed" }),
} as const satisfies Record<string, Places>;

function placesAtBedrock(model: string): Places {
  const { maker, name } = parseModelId(model);
  if (maker === "amazon" && !name.startsWith("nova")) return {};
  return Object.hasOwn(MAKERS, maker) ? MAKERS[maker as keyof typeof MAKERS] : {};
}

/** Fields of wires whose vendors all accept the same ones. */
const BY_WIRE: Readonly<Partial<Record<WireName, Places>>> = {
  gemini: GEMINI,
  "vertexai-gemini": GEMINI,
  anthropic: MESSAGES,
  "vertexai-anthropic": { top_k: "top_k" },
  cohere: { top_k: "k", seed: "seed" },
  ollama: inside("options", asNamed(["top_k", "min_p", "typical_p", "seed", "repeat_penalty"])),
};

/** Fields of servers of open models. They ignore unknown names. */
const OPEN_SERVER = asNamed([
  ...SAMPLING_FIELDS,
  ...["guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs"],
  ...["ignore_eos", "stop_token_ids", "skip_special_tokens", "cache_prompt", "grammar", "samplers"],
]);

const OPENAI = asNamed(["seed", "logit_bias", "prediction"]);

/** Fields of the catalogue's vendors that speak chat completions. A vendor that is not here accepts none. */
const ON_CHAT: Readonly<Partial<Record<VendorName, Places>>> = {
  custom: OPEN_SERVER,
  vllm: OPEN_SERVER,
  lmstudio: OPEN_SERVER,
  openai: OPENAI,
  azure: OPENAI,
  openrouter: asNamed([
    ...["top_k", "min_p", "top_a", "seed", "logit_bias", "repetition_penalty"],
    ...["provider", "models", "route", "transforms", "plugins", "prediction"],
  ]),
  groq: asNamed(["seed", "reasoning_format", "include_reasoning"]),
  together: asNamed([
    ...["top_k", "min_p", "seed", "logit_bias", "repetition_penalty", "chat_template_kwargs"],
    "safety_model",
  ]),
  fireworks: asNamed(["top_k", "min_p", "typical_p", "seed", "logit_bias", "repetition_penalty"]),
  mistral: { seed: "random_seed", random_seed: "random_seed", safe_prompt: "safe_prompt" },
  xai: asNamed(["seed"]),
  cerebras: asNamed(["seed"]),
  alibaba: asNamed(["top_k", "seed", "enable_thinking", "thinking_budget", "enable_search"]),
};

/** The accepted fields by wire, by family of models, or, on chat completions, by vendor. For the docs. */
export const CARRIED_FIELDS: readonly (readonly [string, Places])[] = [
  ...Object.entries({ ...BY_WIRE, bedrock: BEDROCK, llamacpp: OPEN_SERVER }),
  ["bedrock/anthropic.*", MAKERS.anthropic],
  ["bedrock/amazon.nova-*", MAKERS.amazon],
  ["bedrock/cohere.*", MAKERS.cohere],
  ...Object.entries(ON_CHAT),
];

interface Place {
  readonly vendor: string;
  readonly wire: string;
  readonly model: string;
}

interface Carried {
  /** The fields as the vendor's API spells them; undefined if there are none. */
  readonly body: JsonObject | undefined;
  /** The accepted fields, by the client's name and by the vendor's. */
  readonly taken: readonly (readonly [name: string, field: string])[];
  /** The names that the vendor does not accept. */
  readonly left: readonly string[];
}

export function carryFields(fields: JsonObject | undefined, place: Place): Carried {
  if (!fields) return NOTHING;
  const places = placesOf(place);
  let body: JsonObject = {};
  const taken: [string, string][] = [];
  const left: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    const path = Object.hasOwn(places, name) ? places[name] : undefined;
    if (path === undefined) {
      left.push(name);
      continue;
    }
    taken.push([name, path.split(".").at(-1) ?? path]);
    body = layOver(body, putAt(path, value));
  }
  return { body, taken, left };
}

const NOTHING: Carried = { body: undefined, taken: [], left: [] };

function placesOf({ vendor, wire, model }: Place): Places {
  if (wire === "llamacpp") return OPEN_SERVER;
  if (wire === "bedrock") return { ...BEDROCK, ...placesAtBedrock(model) };
  const known = isWire(wire) ? BY_WIRE[wire] : undefined;
  if (known || wire !== "openai-chat") return known ?? {};
  // A server that a user configured accepts what other servers of open models accept.
  return isVendor(vendor) ? (ON_CHAT[vendor] ?? {}) : OPEN_SERVER;
}

function putAt(path: string, value: Json): JsonObject {
  const [first = "", ...rest] = path.split(".");
  return { [first]: rest.length === 0 ? value : putAt(rest.join("."), value) };
}

function asNamed(names: readonly string[]): Places {
  return Object.fromEntries(names.map((name) => [name, name]));
}

function inside(map: string, places: Places): Places {
  return Object.fromEntries(
    Object.entries(places).map(([name, place]) => [name, `${map}.${place}`]),
  );
}
