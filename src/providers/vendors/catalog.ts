/**
 * Every vendor we know, one row each, and those that a user's settings add. A vendor that speaks a
 * known wire is a new row in `rows/`, and no code.
 *
 * The order of the rows is the order in which keys in the environment are looked for. A row whose
 * `defaultModel` is undefined is never chosen that way: its models have no name everyone shares.
 */

import { Failure } from "../../base/failure.ts";
import { HOSTED } from "./rows/hosted.ts";
import { LOCAL } from "./rows/local.ts";
import { MAKERS } from "./rows/makers.ts";
import { MORE_HOSTED } from "./rows/more-hosted.ts";
import type { Vendor } from "./vendor.ts";

const VENDORS = { ...MAKERS, ...HOSTED, ...MORE_HOSTED, ...LOCAL } as const;

export type VendorName = keyof typeof VENDORS;

export const VENDOR_NAMES = Object.keys(VENDORS) as readonly VendorName[];

/** Whether it is one of ours. */
export function isVendor(name: string): name is VendorName {
  return Object.hasOwn(VENDORS, name);
}

/** The row as its interface: `VENDORS[name]` is typed by the literal row, without its options. */
export function vendorOf(name: VendorName): Vendor {
  return VENDORS[name];
}

/** The vendors that may be named here. */
export interface Catalog {
  /** All of them, those of the settings last. */
  readonly names: readonly string[];
  /** Those of the settings. */
  readonly own: readonly string[];
  has(name: string): boolean;
  /** The row of a name that `has` knows. */
  of(name: string): Vendor;
}

/** Ours and `own`, none of which has the name of one of ours. */
export function createCatalog(own: Readonly<Record<string, Vendor>>): Catalog {
  const find = (name: string): Vendor | undefined => {
    if (isVendor(name)) return vendorOf(name);
    return Object.hasOwn(own, name) ? own[name] : undefined;
  };
  const names = Object.keys(own);
  return {
    names: [...VENDOR_NAMES, ...names],
    own: names,
    has: (name) => find(name) !== undefined,
    of(name) {
      const vendor = find(name);
      if (vendor) return vendor;
      throw new Failure("internal", `There is no vendor \`${name}\` in the catalogue.`);
    },
  };
}

/** Ours alone. */
export const CATALOG: Catalog = createCatalog({});
