/**
 * The names `--provider` takes. A provider is a way of speaking to a model; a vendor is whom one
 * speaks to. Most people name a vendor alone and get the wire of its row.
 */

import { Failure } from "../../base/failure.ts";
import { nearest } from "../../base/text.ts";
import { EMBEDDED } from "../models/model-ref.ts";
import { isWire, WIRES, type WireName } from "../wires.ts";
import { CATALOG, type Catalog, isVendor } from "./catalog.ts";

export const PROVIDERS: Readonly<Record<string, { readonly summary: string }>> = {
  ...WIRES,
  [EMBEDDED]: { summary: "The embedded one: no key, no network, no language model" },
};

/** The wire to speak to a vendor with: that of its row, or the one asked for if the vendor has it. */
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

/** Rejects a name that is no provider, with what to write in its place. */
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
    `There is no provider \`${name}\`.${hint} Providers: ${names}.`,
    { param: "provider" },
  );
}
