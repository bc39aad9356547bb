/** `offshoot/ai-sdk`: a provider of the AI SDK whose models are runs on an Offshoot server. */

import type { JsonObject } from "../../base/json.ts";
import {
  type AskedServer,
  type AskedServerOptions,
  type AskServer,
  createAskServer,
  listOf,
  RefusedRequest,
  recordOf,
  textOf,
} from "../ask-server.ts";
import type {
  CallOptions,
  GenerateResult,
  OffshootLanguageModel,
  StreamPart,
  StreamResult,
} from "./language-model.ts";
import { createPartReader, toDate } from "./stream-parts.ts";
import { toContent, toFinish } from "./to-content.ts";
import { toRequest } from "./to-request.ts";

export type { AskedServer, AskedServerOptions } from "../ask-server.ts";
export type { OffshootLanguageModel } from "./language-model.ts";

/** Returns a model by the server's name for it. `fields` are added to each of its requests. */
export interface OffshootProvider {
  (model: string, fields?: JsonObject): OffshootLanguageModel;
  readonly specificationVersion: "v4";
  languageModel(model: string, fields?: JsonObject): OffshootLanguageModel;
  /** Always throws, because this provider has no such models. */
  embeddingModel(model: string): never;
  /** Always throws, because this provider has no such models. */
  imageModel(model: string): never;
}

/** Creates a provider. `server` is the result of `createServerApp`, or any object that answers a `Request`. */
export function createAiProvider(
  server: AskedServer,
  options: AskedServerOptions = {},
): OffshootProvider {
  const ask = createAskServer(server, options);
  const languageModel = (model: string, fields: JsonObject = {}): OffshootLanguageModel =>
    createModel(ask, model, fields);
  const missing =
    (kind: string) =>
    (model: string): never => {
      throw new Error(`There is no ${kind} model \`${model}\`: this provider has language models.`);
    };
  return Object.assign((model: string, fields?: JsonObject) => languageModel(model, fields), {
    specificationVersion: "v4" as const,
    languageModel,
    embeddingModel: missing("embedding"),
    imageModel: missing("image"),
  });
}

function createModel(ask: AskServer, modelId: string, fields: JsonObject): OffshootLanguageModel {
  return {
    specificationVersion: "v4",
    provider: "offshoot",
    modelId,
    // The server fetches addresses itself, by its own rules.
    supportedUrls: { "*/*": [/^https?:\/\//] },
    doGenerate: (options) => generate(ask, options, toRequest(modelId, options, fields)),
    doStream: (options) => stream(ask, options, toRequest(modelId, options, fields)),
  };
}

type Made = ReturnType<typeof toRequest>;

async function generate(
  ask: AskServer,
  { abortSignal: signal, headers }: CallOptions,
  { body, warnings }: Made,
): Promise<GenerateResult> {
  const response = await ask.whole({ body, signal, headers }).catch(toCallError(body));
  const { id, created_at, model, status, error, output } = response;
  if (status === "failed") throw new Error(textOf(recordOf(error)["message"]));
  return {
    ...toFinish(response),
    content: listOf(output).flatMap(toContent),
    warnings,
    request: { body },
    response: { id: textOf(id), timestamp: toDate(created_at), modelId: textOf(model) },
  };
}

async function stream(
  ask: AskServer,
  { abortSignal: signal, headers, includeRawChunks }: CallOptions,
  { body, warnings }: Made,
): Promise<StreamResult> {
  const events = await ask.streamed({ body, signal, headers }).catch(toCallError(body));
  async function* toParts(): AsyncGenerator<StreamPart, void> {
    yield { type: "stream-start", warnings };
    const read = createPartReader();
    for await (const event of events) {
      if (includeRawChunks) yield { type: "raw", rawValue: event };
      yield* read(event);
    }
  }
  return { stream: toStream(toParts()), request: { body } };
}

/** Like `ReadableStream.from`, which Node.js 20.19 has but its types do not. */
function toStream(parts: AsyncGenerator<StreamPart, void>): ReadableStream<StreamPart> {
  return new ReadableStream<StreamPart>({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await parts.return()),
  });
}

/** The framework recognizes its own errors by these marks, and retries if one says so. */
const ERROR_MARK = Symbol.for("vercel.ai.error");
const CALL_ERROR_MARK = Symbol.for("vercel.ai.error.AI_APICallError");

function toCallError(body: JsonObject): (thrown: unknown) => never {
  return (thrown) => {
    if (!(thrown instanceof RefusedRequest)) throw thrown;
    const { status, headers, body: responseBody, url, message } = thrown;
    throw Object.assign(new Error(message, { cause: thrown }), {
      [ERROR_MARK]: true,
      [CALL_ERROR_MARK]: true,
      name: "AI_APICallError",
      url,
      requestBodyValues: body,
      statusCode: status,
      responseHeaders: headers,
      responseBody,
      isRetryable: status === 408 || status === 409 || status === 429 || status >= 500,
    });
  };
}
