/**
 * All known vendors, one row each, and those that a user's settings add. A vendor with a known wire is a
 * new row in `rows/`, without code.
 *
 * The order of the rows is the order in which keys in the environment are looked for. A row whose
 * `defaultModel` is undefined is never chosen that way: its models have no common name.
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

/** True if the vendor is one of ours. */
export function isVendor(name: string): name is VendorName {
  return Object.hasOwn(VENDORS, name);
}

/**
 * The row typed by its interface: `VENDORS[name]` has the type of the literal row, without its optional
 * fields.
 */
export function vendorOf(name: VendorName): Vendor {
  return VENDORS[name];
}

/** The vendors that may be used. */
export interface Catalog {
  /** All vendors, those of the settings last. */
  readonly names: readonly string[];
  /** The vendors of the settings. */
  readonly own: readonly string[];
  has(name: string): boolean;
  /** The row of a name that `has` knows. */
  of(name: string): Vendor;
}

/** Our vendors and `own`, whose names must differ from ours. */
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
      throw new Failure("internal", `Unknown vendor \`${name}\` in the catalogue.`);
    },
  };
}

/** Only our own vendors. */
export const CATALOG: Catalog = createCatalog({});
