/** Chooses the search service: the one that the settings name, otherwise the first that is configured. */

import { Failure } from "../../../base/failure.ts";
import type { SearchProvider } from "./provider.ts";

export interface WebSearchSettings {
  /** `search_provider`. */
  readonly provider: string | undefined;
  /** `search_url`. */
  readonly url: string | undefined;
  /** The variables with the keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ReadyProvider {
  readonly provider: SearchProvider;
  readonly url: string;
  readonly keys: readonly string[];
}

/**
 * The services to ask; the second is used if the first takes us for a robot. Throws `invalid_request` or
 * `key_missing` if the named one cannot be used.
 */
export function chooseProviders(
  settings: WebSearchSettings,
  providers: readonly SearchProvider[],
): readonly [ReadyProvider, ...ReadyProvider[]] {
  const ready = providers.flatMap((provider) => prepare(provider, settings) ?? []);
  const first = settings.provider === undefined ? ready[0] : named(settings, providers);
  if (!first) throw new Failure("internal", "There is no search service without a key.");
  if (!first.provider.isWall) return [first];
  // A service with a robot check can refuse a valid request, so another one is prepared.
  const spare = ready.find(({ provider }) => !provider.isWall);
  return spare ? [first, spare] : [first];
}

function named(settings: WebSearchSettings, providers: readonly SearchProvider[]): ReadyProvider {
  const provider = providers.find(({ name }) => name === settings.provider);
  if (!provider) {
    const names = providers.map(({ name }) => `\`${name}\``).join(", ");
    const message = `There is no search provider \`${settings.provider}\`. Set \`search_provider\` to one of ${names}.`;
    throw new Failure("invalid_request", message);
  }
  const ready = prepare(provider, settings);
  if (ready) return ready;
  const message = `\`search_provider\` is \`${provider.name}\`, which needs ${provider.needs}. Set it, or name another provider.`;
  throw new Failure("key_missing", message);
}

/** Undefined if a key or the address is missing. */
function prepare(
  provider: SearchProvider,
  { url, env }: WebSearchSettings,
): ReadyProvider | undefined {
  const keys = provider.keys.flatMap((names) => names.map((name) => env[name]).find(Boolean) ?? []);
  const place = provider.url ?? url;
  if (keys.length < provider.keys.length || !place) return undefined;
  if (!URL.canParse(place)) {
    const message = `\`search_url\` is not a URL: \`${place}\`. It looks like \`https://search.example.org\`.`;
    throw new Failure("invalid_request", message);
  }
  return { provider, url: place, keys };
}
