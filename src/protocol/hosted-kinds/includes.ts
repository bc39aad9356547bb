/** The values of `include` that ask for optional fields of hosted items. */

import type { ItemFacts } from "./hosted-kind.ts";
import { type AnyHostedKind, HOSTED_KINDS } from "./hosted-kinds.ts";

type IncludeOf<Kind> = Kind extends { readonly items: infer Items }
  ? { [Type in keyof Items & string]: `${Type}.${PathOf<Items[Type]>}` }[keyof Items & string]
  : never;

type PathOf<Facts> = Facts extends { readonly optional: infer Optional }
  ? keyof Optional & string
  : never;

export type HostedInclude = IncludeOf<AnyHostedKind>;

export const HOSTED_INCLUDES: readonly HostedInclude[] = HOSTED_KINDS.flatMap(({ items }) =>
  Object.entries<ItemFacts>(items).flatMap(([type, { optional }]) =>
    Object.keys(optional).map((path) => `${type}.${path}` as HostedInclude),
  ),
);
