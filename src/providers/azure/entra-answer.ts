/** Asks a server for a token of Entra, and reads its answer. */

import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { createRedact } from "../../base/redact.ts";
import { clip } from "../../base/text.ts";
import type { HttpRequest } from "../http/http-answer.ts";
import type { Transport } from "../http/transport.ts";

export interface EntraToken {
  readonly value: string;
  readonly expiresAtMs: number;
}

export interface EntraParts {
  readonly env: Environment;
  /** The network for requests to Entra ID itself. Endpoints of the machine are asked without proxies. */
  readonly transport: Transport;
  readonly clock: Clock;
}

/** Outside of the cloud nothing answers at this address, and the user waits until the next source is tried. */
const MACHINE_CONNECT_MS = 1000;

export function readVariable(env: Environment, name: string): string {
  return env[name]?.trim() ?? "";
}

interface Answer {
  readonly status: number;
  readonly body: Json | undefined;
}

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 30_000 };
const MAX_BYTES = 256 * 1024;

export async function askSource(
  transport: Transport,
  question: Pick<HttpRequest, "method" | "url" | "headers" | "body">,
): Promise<Answer> {
  const isMachine = question.method === "GET";
  const answer = await transport.send({
    ...question,
    signal: AbortSignal.timeout(TIMEOUTS.connectMs + TIMEOUTS.firstByteMs),
    timeouts: isMachine ? { ...TIMEOUTS, connectMs: MACHINE_CONNECT_MS } : TIMEOUTS,
  });
  return { status: answer.status, body: tryParseJson(await answer.text(MAX_BYTES)) };
}

interface Reading {
  readonly clock: Clock;
  readonly secrets: readonly string[];
  /** The endpoint that was asked, as the beginning of a sentence. */
  readonly who: string;
}

export function toToken({ status, body }: Answer, { clock, secrets, who }: Reading): EntraToken {
  const fields = isJsonObject(body) ? body : {};
  const value = fields["access_token"] ?? fields["accessToken"];
  if (status < 300 && typeof value === "string" && value !== "") {
    return { value, expiresAtMs: expiryOf(fields, clock) };
  }
  const said = fields["error_description"] ?? fields["error"] ?? fields["message"];
  const [line = ""] = typeof said === "string" ? said.split(/\r?\n/) : [];
  const reason = line === "" ? `status ${status}` : clip(createRedact(secrets)(line), 200);
  if (status >= 400 && status < 500) {
    throw new Failure("provider_unauthorized", `${who} gives no token: ${reason}`);
  }
  throw new Failure("provider_unreachable", `${who} gives no token: ${reason}`);
}

/**
 * The life of a token whose answer does not say how long it lasts. With it, a token is fetched again after
 * a few requests.
 */
const UNKNOWN_LIFE_MS = 5 * 60_000;

/**
 * When a token expires. The seconds come as numbers or as text; `az` also prints a date in local time,
 * which is not used.
 */
function expiryOf(fields: JsonObject, clock: Clock): number {
  const on = Number(fields["expires_on"]);
  const life = Number(fields["expires_in"]);
  if (Number.isFinite(on) && on > 0) return on * 1000;
  if (Number.isFinite(life) && life > 0) return clock.now() + life * 1000;
  const date = Date.parse(String(fields["expiresOn"] ?? fields["expires_on"]));
  return Number.isNaN(date) ? clock.now() + UNKNOWN_LIFE_MS : date;
}
