/**
 * Lists and downloads models of an Ollama server, for `offshoot models` and `offshoot models pull
 * ollama/NAME`. The server downloads and stores them; this module only follows its progress.
 */

import { mapConcurrent } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { createLineReader } from "../../base/lines.ts";
import { clip } from "../../base/text.ts";
import type { Timeouts } from "../http/http-answer.ts";
import { askServer, type ServerAnswer, sendToServer } from "../http/server-request.ts";
import type { Transport } from "../http/transport.ts";
import { toHttpFailure, toVendorFailure } from "../provider-failure.ts";

export interface OllamaServer {
  readonly transport: Transport;
  /** In the form of the wire, or with the `/v1` of the compatible API. */
  readonly baseUrl: string;
  readonly signal: AbortSignal;
  /** The headers that authorize a request, for a server that requires a key. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface OllamaModel {
  /** With its tag: `qwen3:8b`. */
  readonly name: string;
  readonly bytes: number | undefined;
  /** The size in the server's words: `8.2B`. */
  readonly parameters: string | undefined;
  readonly quantization: string | undefined;
  /** `completion`, `tools`, `thinking`, `vision`, `embedding`; undefined if the server does not report them. */
  readonly capabilities: readonly string[] | undefined;
  /** The largest context of the model. The server loads it with a smaller one by default. */
  readonly contextTokens: number | undefined;
}

export interface OllamaPull extends OllamaServer {
  readonly name: string;
  readonly clock: Clock;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/** The sum of all layers of the model that were named so far. */
export interface PullProgress {
  /** The present step of the server: `pulling manifest`, `verifying sha256 digest`. */
  readonly status: string;
  readonly bytes: number;
  readonly totalBytes: number | undefined;
  /** Mean speed of this call, without bytes that an earlier call had fetched. */
  readonly bytesPerSecond: number;
}

/** Details cost one request for each model; a busy server should not get hundreds at once. */
const MAX_REQUESTS = 4;

/** The server checks a layer of many gigabytes without sending anything. */
const PULL_TIMEOUTS: Timeouts = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 1_200_000 };

/** Newest first, as the server lists them. Rejects if it does not answer, or is not an Ollama server. */
export async function listOllamaModels(server: OllamaServer): Promise<OllamaModel[]> {
  const answer = await askServer({ ...server, url: urlOf(server, "/api/tags") });
  if (answer.status !== 200) throw toHttpFailure("ollama", answer);
  const entries = isJsonObject(answer.json) ? answer.json["models"] : undefined;
  if (!Array.isArray(entries)) {
    throw new Failure(
      "provider_broke_protocol",
      `The server at ${server.baseUrl} is not an Ollama server: it has no list of models.`,
    );
  }
  return mapConcurrent(entries.filter(isJsonObject), MAX_REQUESTS, async (entry) => {
    const name = textOf(entry["name"]) ?? textOf(entry["model"]) ?? "";
    const shown = await askServer({
      ...server,
      url: urlOf(server, "/api/show"),
      body: { model: name },
    });
    return toModel(name, entry, shown);
  });
}

/**
 * Resolves once the server has the model. Rejects with a `Failure` that says what to do. A second pull
 * resumes an interrupted one, because the server keeps what it has.
 */
export async function pullOllamaModel(pull: OllamaPull): Promise<void> {
  const answer = await sendToServer({
    ...pull,
    url: urlOf(pull, "/api/pull"),
    body: { model: pull.name, stream: true },
    timeouts: PULL_TIMEOUTS,
  });
  if (answer.status !== 200) throw await toPullFailure(pull.name, answer);
  const meter = createMeter(pull);
  let isDone = false;
  const reader = createLineReader({
    endings: "lf",
    onLine(line) {
      const step = tryParseJson(line);
      if (!isJsonObject(step)) return;
      if (step["error"] !== undefined) throw toStepFailure(pull.name, step);
      meter(step);
      isDone ||= step["status"] === "success";
    },
  });
  for await (const chunk of answer.chunks) reader.push(chunk);
  reader.end();
  if (isDone) return;
  throw new Failure(
    "provider_broke_protocol",
    `Ollama stopped pulling \`${clip(pull.name, 60)}\` before it was done. Run the command again: it resumes from there.`,
  );
}

function urlOf({ baseUrl }: OllamaServer, path: string): string {
  return baseUrl.replace(/\/+$/, "").replace(/\/(v1|api|api\/chat)$/, "") + path;
}

function toModel(name: string, entry: JsonObject, { status, json }: ServerAnswer): OllamaModel {
  const details = isJsonObject(entry["details"]) ? entry["details"] : {};
  const shown = status === 200 && isJsonObject(json) ? json : {};
  const capabilities = shown["capabilities"];
  return {
    name,
    bytes: numberOf(entry["size"]),
    parameters: textOf(details["parameter_size"]),
    quantization: textOf(details["quantization_level"]),
    capabilities: Array.isArray(capabilities) ? capabilities.map(String) : undefined,
    contextTokens: findContextTokens(shown["model_info"]),
  };
}

/** `qwen3.context_length`: the field is named for the architecture. */
function findContextTokens(info: Json | undefined): number | undefined {
  if (!isJsonObject(info)) return undefined;
  const architecture = textOf(info["general.architecture"]) ?? "";
  return numberOf(info[`${architecture}.context_length`]);
}

interface Layer {
  readonly total: number;
  /** The bytes that were there when this call first saw the layer. */
  readonly had: number;
  readonly completed: number;
}

function createMeter({ clock, onProgress }: OllamaPull): (step: JsonObject) => void {
  const startedAt = clock.now();
  const layers = new Map<string, Layer>();
  return (step) => {
    const digest = textOf(step["digest"]);
    if (digest !== undefined) {
      const completed = numberOf(step["completed"]) ?? 0;
      const had = layers.get(digest)?.had ?? completed;
      layers.set(digest, { total: numberOf(step["total"]) ?? 0, had, completed });
    }
    const sum = (pick: (layer: Layer) => number): number =>
      [...layers.values()].reduce((all, layer) => all + pick(layer), 0);
    const seconds = (clock.now() - startedAt) / 1000;
    const fetched = sum(({ completed, had }) => completed - had);
    onProgress?.({
      status: textOf(step["status"]) ?? "",
      bytes: sum(({ completed }) => completed),
      totalBytes: layers.size > 0 ? sum(({ total }) => total) : undefined,
      bytesPerSecond: seconds > 0 ? fetched / seconds : 0,
    });
  };
}

async function toPullFailure(
  name: string,
  answer: Awaited<ReturnType<Transport["send"]>>,
): Promise<Failure> {
  const pieces: Buffer[] = [];
  for await (const chunk of answer.chunks) pieces.push(chunk);
  const body = Buffer.concat(pieces).toString("utf8");
  const error = tryParseJson(body);
  return isJsonObject(error) && isUnknown(error)
    ? toUnknown(name)
    : toHttpFailure("ollama", { ...answer, body });
}

function toStepFailure(name: string, step: JsonObject): Failure {
  return isUnknown(step) ? toUnknown(name) : toVendorFailure(step);
}

/** True for the registry's message about an unknown name. */
function isUnknown({ error }: JsonObject): boolean {
  return /file does not exist|not found|invalid model name/.test(String(error));
}

function toUnknown(name: string): Failure {
  return new Failure(
    "not_found",
    `Ollama's library has no model \`${clip(name, 60)}\`. Look it up at https://ollama.com/library.`,
  );
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
