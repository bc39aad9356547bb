/**
 * An images API on the loopback, for tests: it checks requests strictly, and answers with a picture
 * made from the prompt, whole or with partial pictures before.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../src/base/json.ts";
import { encodeSse } from "../../src/base/sse.ts";
import { type Exchange, sseExchange, textExchange } from "../../src/testing/exchange/exchange.ts";
import {
  firstOf,
  invalidType,
  invalidValue,
  missing,
  type RequestCheck,
  reject,
  rejectionExchange,
  unknownParameter,
} from "../../src/testing/exchange/rejection.ts";
import { type RecordedRequest, startLoopback, type Upstream } from "../../src/testing/loopback.ts";

export interface ImagesUpstreamOptions {
  /** The bearer key that is asked for; none is by default. */
  readonly key?: string | undefined;
}

export function startImagesUpstream({ key }: ImagesUpstreamOptions = {}): Promise<Upstream> {
  return startLoopback({
    basePath: "/v1",
    async answer({ request, path }) {
      const parsed = tryParseJson(request.text);
      const body = isJsonObject(parsed) ? parsed : undefined;
      const rejection = firstOf(checkRequest({ request, path, body }, key));
      if (rejection) return rejectionExchange(rejection);
      return answerWith(body ?? {}, path);
    },
  });
}

const GENERATIONS = "/v1/images/generations";
const EDITS = "/v1/images/edits";

/** The picture for a prompt: its text after a picture's first bytes. Base64. */
export function pictureOf(text: string): string {
  const head = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([head, Buffer.from(text)]).toString("base64");
}

interface AskedImages {
  readonly request: RecordedRequest;
  readonly path: string;
  readonly body: JsonObject | undefined;
}

function* checkRequest(
  { request, path, body }: AskedImages,
  key: string | undefined,
): RequestCheck {
  if (path !== GENERATIONS && path !== EDITS) yield reject("Not found.", { status: 404 });
  if (request.method !== "POST") yield reject("Not allowed to do that.", { status: 405 });
  if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
    yield reject("Incorrect API key provided.", { status: 401, code: "invalid_api_key" });
  }
  if (!body) yield reject("We could not parse the JSON body of your request.");
  yield* checkBody(body ?? {}, path === EDITS);
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  quality: ["low", "medium", "high", "auto"],
  background: ["transparent", "opaque", "auto"],
  moderation: ["low", "auto"],
  output_format: ["png", "jpeg", "webp"],
  size: ["auto", "1024x1024", "1536x1024", "1024x1536"],
};
const EVERYWHERE = [
  "prompt",
  "model",
  "n",
  "stream",
  "partial_images",
  "output_compression",
  "user",
];
const EDITS_ALONE = ["images", "mask", "input_fidelity"];

function* checkBody(body: JsonObject, isEdit: boolean): RequestCheck {
  const model = body["model"];
  if (typeof model !== "string") yield missing("model");
  const isNew = /gpt-image/.test(String(model));
  const known = [...EVERYWHERE, ...Object.keys(WORDS), ...(isEdit ? EDITS_ALONE : [])];
  if (!isNew) known.push("response_format");
  for (const name of Object.keys(body)) if (!known.includes(name)) yield unknownParameter(name);
  if (typeof body["prompt"] !== "string" || body["prompt"] === "") yield missing("prompt");
  for (const [name, words] of Object.entries(WORDS)) {
    const value = body[name];
    if (value !== undefined && !words.includes(String(value)))
      yield invalidValue(name, value, words);
  }
  const partial = body["partial_images"];
  if (partial !== undefined && body["stream"] !== true) {
    yield reject("'partial_images' needs 'stream'.", { param: "partial_images" });
  }
  if (isEdit) yield* checkPictures(body["images"]);
}

function* checkPictures(images: Json | undefined): RequestCheck {
  if (!Array.isArray(images) || images.length === 0) yield missing("images");
  for (const [at, image] of ((images ?? []) as readonly Json[]).entries()) {
    const url = isJsonObject(image) ? image["image_url"] : undefined;
    if (typeof url !== "string") yield invalidType(`images[${at}].image_url`, "a string", url);
  }
}

function answerWith(body: JsonObject, path: string): Exchange {
  const kind = path === EDITS ? "edit" : "generation";
  const about = { size: "1024x1024", quality: "high", background: "opaque", output_format: "png" };
  const prompt = String(body["prompt"]);
  const b64_json = pictureOf(`${kind} ${prompt}`);
  if (body["stream"] !== true) {
    const data = [{ b64_json, revised_prompt: `${prompt}, in detail` }];
    return textExchange(200, JSON.stringify({ created: 1, data, ...about }));
  }
  const count = Number(body["partial_images"] ?? 0);
  const frame = (event: string, fields: object): string => {
    const type = `image_${kind}.${event}`;
    return encodeSse(type, { type, created_at: 1, ...about, ...fields });
  };
  const partial = Array.from({ length: count }, (_, partial_image_index) =>
    frame("partial_image", {
      partial_image_index,
      b64_json: pictureOf(`${kind} ${partial_image_index}`),
    }),
  );
  return sseExchange([...partial, frame("completed", { b64_json })]);
}
