/**
 * Gets pictures from a server with OpenAI's images API. Edits are sent as JSON, with the pictures as data
 * URLs. Partial pictures come as a stream of events.
 */

import { Failure } from "../../base/failure.ts";
import { asJson, isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { createSseReader } from "../../base/sse.ts";
import { clip } from "../../base/text.ts";
import type { ImageBody, MadeImage } from "../../protocol/images.ts";
import { toUsage, type Usage } from "../../protocol/usage.ts";
import type { HttpAnswer, Timeouts } from "../http/http-answer.ts";
import { sendToServer } from "../http/server-request.ts";
import type { Transport } from "../http/transport.ts";

export interface ImagesServer {
  readonly transport: Transport;
  /** The API's base, `https://api.openai.com/v1`. */
  readonly url: string;
  /** The model to use if the request names none. */
  readonly model: string;
  readonly key: string | undefined;
}

export interface ImageCall {
  readonly signal: AbortSignal;
  /** Called with each partial picture, numbered from 0. Awaited. */
  onPartial(image: MadeImage, index: number): Promise<void>;
}

/** Drawing a picture takes a minute or two. */
const IMAGE_TIMEOUTS: Timeouts = { connectMs: 10_000, firstByteMs: 300_000, idleMs: 300_000 };

/** Rejects with `tool_failed` and the server's own message. */
export async function makeImage(
  { transport, url, model, key }: ImagesServer,
  body: ImageBody,
  asking: ImageCall,
): Promise<MadeImage> {
  const { partial_images = 0, ...asked } = body;
  const isEdit = body.images !== undefined;
  const stream = partial_images > 0 ? { stream: true, partial_images } : {};
  const named = { ...asked, model: asked.model ?? model };
  const answer = await sendToServer({
    transport,
    url: `${url.replace(/\/$/, "")}/images/${isEdit ? "edits" : "generations"}`,
    body: asJson({ ...named, ...toFormat(named.model), n: 1, ...stream }),
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    signal: asking.signal,
    timeouts: IMAGE_TIMEOUTS,
  });
  if (answer.status >= 300) throw await toRefusal(answer);
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream");
  return isStream ? await readStream(answer, asking) : toImage(await readWhole(answer));
}

/**
 * Newer models always answer with the picture and refuse this parameter; without it, older ones answer with
 * an address.
 */
function toFormat(model: string): { response_format?: "b64_json" } {
  return /gpt-image|chatgpt-image/.test(model) ? {} : { response_format: "b64_json" };
}

async function readStream(answer: HttpAnswer, asking: ImageCall): Promise<MadeImage> {
  const events: JsonObject[] = [];
  const reader = createSseReader((data) => {
    const event = tryParseJson(data);
    if (isJsonObject(event)) events.push(event);
  });
  let partial = 0;
  for await (const chunk of answer.chunks) {
    reader.push(chunk);
    for (const event of events.splice(0)) {
      const type = String(event["type"]);
      if (type.endsWith(".completed")) return toImage(event);
      if (type.endsWith(".partial_image")) await asking.onPartial(toImage(event), partial++);
      if (type === "error" || event["error"]) throw failed(messageIn(event));
    }
  }
  throw failed("The image server's answer ended before the picture was whole.");
}

async function readWhole(answer: HttpAnswer): Promise<Json | undefined> {
  return tryParseJson(await answer.text(Number.POSITIVE_INFINITY));
}

const ABOUT = ["size", "quality", "background", "output_format", "revised_prompt"] as const;

/** A plain answer lists pictures; an event is one. */
function toImage(answer: Json | undefined): MadeImage {
  const whole = isJsonObject(answer) ? answer : {};
  const { data } = whole;
  const first = Array.isArray(data) ? (data as readonly Json[])[0] : whole;
  const image = isJsonObject(first) ? first : {};
  const b64_json = image["b64_json"];
  if (typeof b64_json !== "string") throw failed("The image server's answer has no picture.");
  const said = { ...whole, ...image };
  const about = ABOUT.flatMap((name) =>
    typeof said[name] === "string" ? [[name, said[name]]] : [],
  );
  const usage = readUsage(said["usage"]);
  return {
    b64_json,
    ...(Object.fromEntries(about) as Partial<MadeImage>),
    ...(usage && { usage }),
  };
}

function readUsage(said: Json | undefined): Usage | undefined {
  if (!isJsonObject(said)) return undefined;
  const { input_tokens: input, output_tokens: output } = said;
  if (typeof input !== "number" || typeof output !== "number") return undefined;
  return toUsage({ input, output });
}

async function toRefusal(answer: HttpAnswer): Promise<Failure> {
  const said = await readWhole(answer);
  return failed(`The image server answered ${answer.status}: ${messageIn(said)}`);
}

function messageIn(answer: Json | undefined): string {
  const error = isJsonObject(answer) ? (answer["error"] ?? answer) : undefined;
  const message = isJsonObject(error) ? error["message"] : error;
  return typeof message === "string" ? clip(message, 300) : "without saying why.";
}

function failed(message: string): Failure {
  return new Failure("tool_failed", message);
}
