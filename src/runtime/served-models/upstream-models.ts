/**
 * The models that a server at an address of the user's own lists (`GET /models`). The list is kept for a while:
 * pickers of clients ask often, and a server that is down must not slow them each time.
 */

import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import { isJsonObject, type Json, tryParseJson } from "../../base/json.ts";
import type { Transport } from "../../providers/http/transport.ts";
import type { Catalog } from "../../providers/vendors/catalog.ts";
import { keyHeadersOf } from "../open-sign.ts";
import type { OwnServer } from "./model-routes.ts";

export interface UpstreamModel {
  readonly id: string;
  readonly created: number;
  readonly owned_by: string;
}

/** Never rejects: returns the server's last list, even if it does not answer now. */
export type ListModels = () => Promise<readonly UpstreamModel[]>;

export interface UpstreamParts {
  readonly server: OwnServer;
  /** The vendors that the server may belong to; ours alone when left out. */
  readonly catalog?: Catalog | undefined;
  readonly transport: () => Promise<Transport>;
  readonly env: Environment;
  readonly clock: Clock;
}

/** New models appear within a minute. */
const KEEP_MS = 60_000;
/** A server that did not answer may be starting. */
const RETRY_MS = 5000;
/** For the whole answer: all callers that ask for the list wait for it. */
const LIMIT_MS = 5000;
const TIMEOUTS = { connectMs: 2000, firstByteMs: LIMIT_MS, idleMs: LIMIT_MS };
/** Enough for tens of thousands of models. */
const MAX_BYTES = 8 * 1024 * 1024;

export function createUpstreamModels(parts: UpstreamParts): ListModels {
  const { clock } = parts;
  let last: readonly UpstreamModel[] = [];
  let asking: Promise<void> | undefined;
  let nextMs = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<void> => {
    const found = await readModels(parts);
    last = found ?? last;
    nextMs = clock.now() + (found ? KEEP_MS : RETRY_MS);
  };
  return async () => {
    if (clock.now() >= nextMs) {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      await asking;
    }
    return last;
  };
}

/** Undefined if the server does not answer, or has no such list. */
async function readModels(parts: UpstreamParts): Promise<UpstreamModel[] | undefined> {
  const { server, transport, env, catalog } = parts;
  try {
    const answer = await (await transport()).send({
      method: "GET",
      url: `${server.url.replace(/\/+$/, "")}/models`,
      body: undefined,
      headers: keyHeadersOf(server, env, catalog),
      signal: AbortSignal.timeout(LIMIT_MS),
      timeouts: TIMEOUTS,
    });
    const text = await answer.text(MAX_BYTES);
    return answer.status === 200 ? toModels(tryParseJson(text)) : undefined;
  } catch {
    // The list is optional: a request for a model reports what is wrong.
    return undefined;
  }
}

function toModels(list: Json | undefined): UpstreamModel[] | undefined {
  const data = isJsonObject(list) ? list["data"] : undefined;
  if (!Array.isArray(data)) return undefined;
  return data.filter(isJsonObject).flatMap(({ id, created, owned_by }) => {
    if (typeof id !== "string" || id === "") return [];
    return {
      id,
      created: Number.isSafeInteger(created) ? Number(created) : 0,
      owned_by: typeof owned_by === "string" ? owned_by : "custom",
    };
  });
}
