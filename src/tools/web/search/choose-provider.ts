/** Which service is asked: the one that is named, else the first that is set up. */

import { Failure } from "../../../base/failure.ts";
import type { SearchProvider } from "./provider.ts";

export interface SearchSettings {
  /** `search_provider`. */
  readonly provider: string | undefined;
  /** `search_url`. */
  readonly url: string | undefined;
  /** Where the keys are. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ReadyProvider {
  readonly provider: SearchProvider;
  readonly url: string;
  readonly keys: readonly string[];
}

/**
 * The services to ask, the second when the first takes us for a robot. Throws `invalid_request` or
 * `key_missing` where the one that is named cannot be used.
 */
export function chooseProviders(
  settings: SearchSettings,
  providers: readonly SearchProvider[],
): readonly [ReadyProvider, ...ReadyProvider[]] {
  const ready = providers.flatMap((provider) => prepare(provider, settings) ?? []);
  const first = settings.provider === undefined ? ready[0] : named(settings, providers);
  if (!first) throw new Failure("internal", "There is no search service without a key.");
  if (!first.provider.isWall) return [first];
  // Whoever has a wall can fail through no fault of ours, so another one stands by.
  const spare = ready.find(({ provider }) => !provider.isWall);
  return spare ? [first, spare] : [first];
}

function named(settings: SearchSettings, providers: readonly SearchProvider[]): ReadyProvider {
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

/** Undefined where a key or the address is missing. */
function prepare(
  provider: SearchProvider,
  { url, env }: SearchSettings,
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
