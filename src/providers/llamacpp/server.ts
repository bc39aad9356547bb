/**
 * The state that a running llama-server reports: whether it is ready, its model, and the length of a
 * conversation. It answers while it loads a model, which takes minutes for a large one.
 */

import { throwIfAborted } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import { askServer } from "../http/server-request.ts";
import type { Transport } from "../http/transport.ts";
import type { ModelCall, ModelRequest, Provider } from "../provider.ts";
import { toHttpFailure } from "../provider-failure.ts";

export interface ServerProps {
  /** The length of one conversation; undefined while the model loads, and if the server does not report it. */
  readonly contextTokens: number | undefined;
  /** The alias with which the server was started, or the file's name. */
  readonly modelName: string | undefined;
  readonly modelPath: string | undefined;
  /** The model's own template, in Jinja. */
  readonly chatTemplate: string | undefined;
  readonly hasVision: boolean;
  /** False while the model loads; nothing else is known then. */
  readonly isReady: boolean;
}

const LOADING: ServerProps = {
  contextTokens: undefined,
  modelName: undefined,
  modelPath: undefined,
  chatTemplate: undefined,
  hasVision: false,
  isReady: false,
};

/** `baseUrl` with or without its `/v1`. Rejects if no server answers, or if it refuses. */
export async function readServerProps(
  transport: Transport,
  baseUrl: string,
  signal: AbortSignal,
  headers?: Readonly<Record<string, string>>,
): Promise<ServerProps> {
  const url = `${originOf(baseUrl)}/props`;
  const answer = await askServer({ transport, url, signal, headers });
  if (answer.status === 503) return LOADING;
  if (answer.status !== 200) throw toHttpFailure("llama-server", answer);
  return toServerProps(answer.json);
}

/** Reads the body of `/props`. The field of the context's length differs between versions. */
export function toServerProps(body: Json | undefined): ServerProps {
  const props = isJsonObject(body) ? body : {};
  const settings = props["default_generation_settings"];
  const contextTokens = (isJsonObject(settings) ? settings["n_ctx"] : undefined) ?? props["n_ctx"];
  const modelPath = textOf(props["model_path"]);
  const modalities = props["modalities"];
  return {
    contextTokens:
      typeof contextTokens === "number" && contextTokens > 0 ? contextTokens : undefined,
    modelName: textOf(props["model_alias"]) ?? modelPath?.split(/[\\/]/).at(-1),
    modelPath,
    chatTemplate: textOf(props["chat_template"]),
    hasVision: isJsonObject(modalities) && modalities["vision"] === true,
    isReady: true,
  };
}

export interface ServerWait {
  readonly transport: Transport;
  readonly baseUrl: string;
  readonly clock?: Clock;
}

/** Short compared with the seconds that loading takes, long compared with what a question costs the server. */
const POLL_MS = 500;

/** Loading is reported again after this much more time. */
const NOTICE_MS = 15_000;

/**
 * A provider whose first call waits until the server has loaded its model, with a notice. If a
 * server has no `/health`, or does not answer, the call itself finds out.
 */
export function waitForServer(provider: Provider, wait: ServerWait): Provider {
  let isReady = false;

  async function* stream(request: ModelRequest, call: ModelCall): ReturnType<Provider["stream"]> {
    if (!isReady) await (call.hasOthers ? checkLoaded(wait, call) : untilLoaded(wait, call));
    isReady = true;
    yield* provider.stream(request, call);
  }

  return { name: provider.name, stream, omits: provider.omits };
}

/**
 * Fails if the server still loads its model: loading takes minutes, and another deployment has its model
 * loaded.
 */
async function checkLoaded(
  { transport, baseUrl }: ServerWait,
  { signal }: ModelCall,
): Promise<void> {
  if (!(await isLoading(transport, baseUrl, signal))) return;
  throw new Failure("provider_overloaded", "llama-server is loading its model.");
}

async function untilLoaded(
  { transport, baseUrl, clock = systemClock }: ServerWait,
  { signal, notice }: ModelCall,
): Promise<void> {
  const startedAt = clock.now();
  let nextNoticeAt = startedAt;
  while (await isLoading(transport, baseUrl, signal)) {
    const now = clock.now();
    if (now >= nextNoticeAt) {
      nextNoticeAt = now + NOTICE_MS;
      const seconds = Math.round((now - startedAt) / 1000);
      const since = seconds > 0 ? `, for ${seconds} s now` : "";
      notice?.({ code: "wait", message: `llama-server is loading its model${since}. Waiting.` });
    }
    await clock.sleep(POLL_MS, signal).catch(() => throwIfAborted(signal));
  }
}

async function isLoading(
  transport: Transport,
  baseUrl: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { status } = await askServer({ transport, url: `${originOf(baseUrl)}/health`, signal });
    return status === 503;
  } catch {
    // The call itself fails in the same way, and reports it after its retries.
    throwIfAborted(signal);
    return false;
  }
}

function originOf(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, "").replace(/\/v1(\/chat\/completions)?$/, "");
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
