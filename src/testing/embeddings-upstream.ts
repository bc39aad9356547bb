/**
 * A server on the loopback that makes embeddings in every vendor's form, for tests. The address selects the form. It
 * checks requests as strictly as the services do.
 *
 * A text's vector is its length and its first character's code, cut or filled to the dimensions.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../base/json.ts";
import { awsRejectionExchange, invalid } from "./bedrock/aws-rejection.ts";
import {
  type CohereCheck,
  invalid as cohereInvalid,
  rejectionExchange as cohereRejectionExchange,
  unknownField,
} from "./cohere/cohere-rejection.ts";
import { type Exchange, textExchange } from "./exchange/exchange.ts";
import { reject, rejectionExchange } from "./exchange/rejection.ts";
import {
  geminiRejectionExchange,
  invalidArgument,
  unknownName,
} from "./gemini/gemini-rejection.ts";
import { startLoopback, type Upstream } from "./loopback.ts";

export interface EmbeddingsUpstreamOptions {
  /** The default length of vectors. */
  readonly dimensions?: number | undefined;
  /** False for servers that do not know `dimensions` and use their own length. */
  readonly hearsDimensions?: boolean | undefined;
  /** Replaces the answer to the request with this number, from 1. */
  readonly fail?: ((number: number) => { status: number; body: object } | undefined) | undefined;
}

/** Starts the server. Its `url` is the origin: forms have base paths of their own. */
export function startEmbeddingsUpstream(
  options: EmbeddingsUpstreamOptions = {},
): Promise<Upstream> {
  return startLoopback({
    basePath: "",
    async answer({ request, path, number }) {
      const failed = options.fail?.(number);
      if (failed) return toJson(failed.body, failed.status);
      const body = tryParseJson(request.text);
      const [, , answer] = FORMS.find(([, address]) => address.test(path)) ?? [];
      if (!answer || request.method !== "POST" || !isJsonObject(body)) {
        return rejectionExchange(
          reject(`Invalid URL (${request.method} ${path})`, { status: 404 }),
        );
      }
      return answer(body, { ...options, path: decodeURIComponent(path) });
    },
  });
}

interface Asked extends EmbeddingsUpstreamOptions {
  readonly path: string;
}

type AnswerForm = (body: JsonObject, asked: Asked) => Exchange;

const FORMS: readonly (readonly [string, RegExp, AnswerForm])[] = [
  ["openai", /^\/v1\/embeddings$/, answerOpenAi],
  ["gemini", /:batchEmbedContents$/, answerGemini],
  ["vertex", /\/publishers\/google\/models\/[^/]+:predict$/, answerVertex],
  ["ollama", /^\/api\/embed$/, answerOllama],
  ["cohere", /^\/v2\/embed$/, answerCohere],
  ["bedrock", /^\/model\/[^/]+\/invoke$/, answerBedrock],
];

function vectorOf(text: Json | undefined, dimensions: number): number[] {
  const isTokens = Array.isArray(text);
  const known = isTokens
    ? [text.length, Number(text[0])]
    : [String(text).length, String(text).charCodeAt(0)];
  return Array.from({ length: dimensions }, (_, at) => (known[at] ?? 0) + 0.5);
}

function sizeOf(
  asked: Json | undefined,
  { dimensions = 2, hearsDimensions = true }: Asked,
): number {
  return hearsDimensions && typeof asked === "number" ? asked : dimensions;
}

const OPENAI_FIELDS = ["model", "input", "dimensions", "encoding_format", "user", "input_type"];

function answerOpenAi(body: JsonObject, asked: Asked): Exchange {
  const unknown = Object.keys(body).find((name) => !OPENAI_FIELDS.includes(name));
  if (unknown !== undefined) {
    const message = `Unrecognized request argument supplied: ${unknown}`;
    return rejectionExchange(reject(message));
  }
  const input = Array.isArray(body["input"]) ? (body["input"] as readonly Json[]) : [];
  const isWrong = input.length === 0 || input.some((one) => one === "" || isJsonObject(one));
  if (isWrong) return rejectionExchange(reject("'$.input' is invalid.", { param: "input" }));
  const size = sizeOf(body["dimensions"], asked);
  const data = input.map((text, index) => {
    return { object: "embedding", index, embedding: vectorOf(text, size) };
  });
  const tokens = 3 * input.length;
  // Not in order: each has its index.
  return toJson({
    object: "list",
    data: data.reverse(),
    model: String(body["model"]),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

const MAX_GEMINI_BATCH = 100;
const GEMINI_FIELDS = ["model", "content", "taskType", "title", "outputDimensionality"];

function answerGemini(body: JsonObject, asked: Asked): Exchange {
  const requests = Array.isArray(body["requests"]) ? body["requests"].filter(isJsonObject) : [];
  if (requests.length > MAX_GEMINI_BATCH) {
    const message = `* BatchEmbedContentsRequest.requests: at most ${MAX_GEMINI_BATCH} requests can be in one batch\n`;
    return geminiRejectionExchange(invalidArgument(message));
  }
  for (const one of requests) {
    const unknown = Object.keys(one).find((name) => !GEMINI_FIELDS.includes(name));
    if (unknown !== undefined) return geminiRejectionExchange(unknownName(unknown, "requests[0]"));
    if (!asked.path.endsWith(`/${String(one["model"])}:batchEmbedContents`)) {
      const message = "* BatchEmbedContentsRequest.requests[0].model: model does not match path\n";
      return geminiRejectionExchange(invalidArgument(message));
    }
  }
  const embeddings = requests.map(({ content, outputDimensionality }) => {
    return { values: vectorOf(textOf(content), sizeOf(outputDimensionality, asked)) };
  });
  return toJson({ embeddings });
}

function textOf(content: Json | undefined): Json | undefined {
  const parts = isJsonObject(content) ? content["parts"] : undefined;
  const [part] = Array.isArray(parts) ? parts.filter(isJsonObject) : [];
  return part?.["text"];
}

function answerVertex(body: JsonObject, asked: Asked): Exchange {
  const instances = Array.isArray(body["instances"]) ? body["instances"].filter(isJsonObject) : [];
  if (instances.length !== 1) {
    const message = "gemini-embedding-001 supports one instance a request.";
    return geminiRejectionExchange(invalidArgument(message));
  }
  const parameters = isJsonObject(body["parameters"]) ? body["parameters"] : {};
  const size = sizeOf(parameters["outputDimensionality"], asked);
  const predictions = instances.map(({ content }) => {
    const statistics = { truncated: false, token_count: 3 };
    return { embeddings: { values: vectorOf(content, size), statistics } };
  });
  return toJson({ predictions });
}

function answerOllama(body: JsonObject, asked: Asked): Exchange {
  const input = [body["input"]].flat() as readonly Json[];
  if (input.some((text) => typeof text !== "string")) {
    return toJson({ error: "invalid input type" }, 400);
  }
  const size = sizeOf(body["dimensions"], asked);
  const embeddings = input.map((text) => vectorOf(text, size));
  return toJson({ model: String(body["model"]), embeddings, prompt_eval_count: 3 * input.length });
}

const TITAN_FIELDS = ["inputText", "dimensions", "normalize", "embeddingTypes"];

function answerBedrock(body: JsonObject, asked: Asked): Exchange {
  if (asked.path.includes("cohere.")) return answerCohereAtBedrock(body, asked);
  const unknown = Object.keys(body).find((name) => !TITAN_FIELDS.includes(name));
  if (unknown !== undefined || typeof body["inputText"] !== "string") {
    const message = "Malformed input request: #: required key [inputText] not found.";
    return awsRejectionExchange(invalid(message));
  }
  const embedding = vectorOf(body["inputText"], sizeOf(body["dimensions"], asked));
  return toJson({ embedding, inputTextTokenCount: 3 });
}

function answerCohereAtBedrock(body: JsonObject, asked: Asked): Exchange {
  if (typeof body["input_type"] !== "string" || textsOf(body).length === 0) {
    const message = "Malformed input request: #: required key [input_type] not found.";
    return awsRejectionExchange(invalid(message));
  }
  return toJson(toCohere(body, asked));
}

const COHERE_FIELDS = [
  ...["model", "texts", "images", "inputs", "input_type", "embedding_types"],
  ...["output_dimension", "max_tokens", "truncate", "priority"],
];
const COHERE_USES = ["search_document", "search_query", "classification", "clustering", "image"];
const MAX_COHERE_TEXTS = 96;

function answerCohere(body: JsonObject, asked: Asked): Exchange {
  for (const problem of checkCohere(body)) return cohereRejectionExchange(problem);
  // Cohere counts the tokens that it bills.
  const meta = { billed_units: { input_tokens: 3 * textsOf(body).length } };
  return toJson({ ...toCohere(body, asked), meta });
}

function* checkCohere(body: JsonObject): CohereCheck {
  const unknown = Object.keys(body).find((name) => !COHERE_FIELDS.includes(name));
  if (unknown !== undefined) yield unknownField(unknown);
  if (typeof body["model"] !== "string") yield cohereInvalid("model is required");
  if (!COHERE_USES.includes(String(body["input_type"]))) {
    yield cohereInvalid("valid input_type must be provided with the provided model");
  }
  if (!Array.isArray(body["embedding_types"])) yield cohereInvalid("embedding_types is required");
  const { length } = textsOf(body);
  if (length === 0) yield cohereInvalid("at least one text must be provided");
  if (length > MAX_COHERE_TEXTS) {
    yield cohereInvalid(`total number of texts must be at most 96 - received ${length}`);
  }
  if (!["NONE", "START", "END", undefined].includes(body["truncate"] as string | undefined)) {
    yield cohereInvalid("truncate must be one of NONE, START, END");
  }
}

function textsOf(body: JsonObject): readonly Json[] {
  return Array.isArray(body["texts"]) ? body["texts"] : [];
}

function toCohere(body: JsonObject, asked: Asked): JsonObject {
  const texts = [...textsOf(body)];
  const size = sizeOf(body["output_dimension"], asked);
  const float = texts.map((text) => vectorOf(text, size));
  return { id: "1", response_type: "embeddings_by_type", embeddings: { float }, texts };
}

function toJson(body: object, status = 200): Exchange {
  return textExchange(status, JSON.stringify(body), { "content-type": "application/json" });
}
