/**
 * Requests to Azure, signed with a token of Microsoft Entra ID in place of a key.
 *
 * The endpoints that give tokens are plain HTTP, so there is no library for them: `entra-sources.ts` asks
 * them. One signature function keeps one token for each audience. All requests share it. The first request
 * after most of its life has passed fetches the next one.
 */

import { untilAborted } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import type { UnsignedRequest } from "../http/http-provider.ts";
import type { Transport } from "../http/transport.ts";
import type { EntraToken } from "./entra-answer.ts";
import { fetchEntraToken } from "./entra-sources.ts";

export interface EntraRequest extends UnsignedRequest {
  /** Opens the network of the caller. */
  readonly transport: () => Promise<Transport>;
}

type EntraSign = (request: EntraRequest) => Promise<Readonly<Record<string, string>>>;

/** A token is replaced this long before it expires, or in the middle of its life if that is shorter. */
const REFRESH_BEFORE_MS = 5 * 60_000;

interface Kept {
  token: EntraToken | undefined;
  refreshAtMs: number;
  asking: Promise<EntraToken> | undefined;
}

/**
 * Creates a signature function that uses tokens of Entra ID. When called, it rejects with `key_missing` and
 * the sources that were tried, or with the reason why Entra ID refused.
 */
export function createEntraSign(env: Environment, clock: Clock = systemClock): EntraSign {
  const kept = new Map<string, Kept>();

  async function ask(scope: string, { transport }: EntraRequest, entry: Kept): Promise<EntraToken> {
    const token = await fetchEntraToken(scope, { env, transport: await transport(), clock });
    const lifeMs = token.expiresAtMs - clock.now();
    entry.token = token;
    entry.refreshAtMs = clock.now() + Math.max(lifeMs - REFRESH_BEFORE_MS, lifeMs / 2);
    return token;
  }

  return async (request) => {
    const scope = scopeOf(request.url, env);
    const entry = kept.get(scope) ?? { token: undefined, refreshAtMs: 0, asking: undefined };
    kept.set(scope, entry);
    const known = entry.token;
    if (known && clock.now() < entry.refreshAtMs) return toHeaders(known);
    // One fetch for all waiting requests. A cancelled run stops waiting; the token is still fetched for the
    // others.
    entry.asking ??= ask(scope, request, entry).finally(() => {
      entry.asking = undefined;
    });
    try {
      return toHeaders(await untilAborted(entry.asking, request.signal));
    } catch (thrown) {
      // The old token is valid for some minutes more, so the service may be unreachable until then.
      const isGood = known && clock.now() < known.expiresAtMs && !request.signal.aborted;
      if (isGood) return toHeaders(known);
      throw thrown;
    }
  };
}

function toHeaders({ value }: EntraToken): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${value}` };
}

/** The scope of the token. Each national cloud has a service of its own; a gateway may need another one. */
function scopeOf(url: string, env: Environment): string {
  const named = env["AZURE_SCOPE"]?.trim();
  if (named) return named;
  const [, country] = /\.azure\.(us|cn)$/.exec(new URL(url).hostname) ?? [];
  return `https://cognitiveservices.azure.${country ?? "com"}/.default`;
}
