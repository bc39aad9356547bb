/**
 * The names that `--provider` accepts. A provider is the way to talk to a model; a vendor is the company or
 * server. Most users name only a vendor and get the wire of its row.
 */

import { Failure } from "../../base/failure.ts";
import { nearest } from "../../base/text.ts";
import { CATALOG, type Catalog, isVendor } from "../vendors/catalog.ts";
import type { WireName } from "../wire.ts";
import { isWire, WIRES } from "../wires.ts";
import { EMBEDDED } from "./model-ref.ts";

export const PROVIDERS: Readonly<Record<string, { readonly summary: string }>> = {
  ...WIRES,
  [EMBEDDED]: { summary: "The embedded one: no key, no network, not a language model" },
};

/** The wire to use with a vendor: that of its row, or the requested one if the vendor has it. */
export function wireFor(
  vendor: string,
  provider: string | undefined,
  catalog: Catalog = CATALOG,
): WireName {
  const { wire, alternatives = [] } = catalog.of(vendor);
  if (provider === undefined || provider === wire) return wire;
  checkProvider(provider);
  if (isWire(provider) && alternatives.includes(provider)) return provider;
  const spoken = [wire, ...alternatives].join(", ");
  throw new Failure(
    "invalid_request",
    `\`${vendor}\` does not speak \`${provider}\`. It speaks: ${spoken}.`,
    { param: "provider" },
  );
}

/** Rejects an unknown provider, with a suggestion. */
export function checkProvider(name: string): void {
  if (Object.hasOwn(PROVIDERS, name)) return;
  const names = Object.keys(PROVIDERS).join(", ");
  const guess = nearest(name, Object.keys(PROVIDERS));
  const hint = isVendor(name)
    ? ` \`${name}\` is a vendor: choose it with -m ${name}/MODEL.`
    : guess === undefined
      ? ""
      : ` Did you mean \`${guess}\`?`;
  throw new Failure(
    "invalid_request",
    `Unknown provider \`${name}\`.${hint} Providers: ${names}.`,
    { param: "provider" },
  );
}
