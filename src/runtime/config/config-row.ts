/** What a setting is: its type and range, its default, its flag, and who may set it. */

import type { JsonObject } from "../../base/json.ts";

export type ConfigRow = {
  readonly summary: string;
  /** The flag of `offshoot run` that sets it; one that begins with `no-` switches it off. */
  readonly flag?: string;
  /** Another flag, which gives it a text. */
  readonly textFlag?: string;
  /** A project's file may set it only when trusted: it decides where data, money or leave goes. */
  readonly guarded?: true;
  /** A project's file never sets it, trusted or not. */
  readonly own?: true;
  /** An untrusted project's file may set less of it than the user has, and never more. */
  readonly narrows?: true;
  /** Every layer adds to it, where of other settings the last layer wins. */
  readonly joined?: true;
} & (
  | {
      readonly type: "string";
      readonly form?: "path" | "variable" | "prefix";
      readonly default?: string;
      /** An empty text is a value of its own, in files and variables: none, where the default is some. */
      readonly empty?: true;
    }
  | ({ readonly type: "number" | "integer"; readonly default?: number } & Range)
  | { readonly type: "boolean"; readonly default?: boolean }
  /** On, off, or where: a path or an address. */
  | { readonly type: "record"; readonly default?: boolean }
  | { readonly type: "list"; readonly form?: "rules"; readonly default?: readonly string[] }
  | { readonly type: "enum"; readonly values: readonly string[]; readonly default?: string }
  | { readonly type: "map"; readonly default?: JsonObject }
);

/** What may stand in front of a server's addresses, with or without a slash at its end. */
export const PATH_PREFIX = /^(\/[A-Za-z0-9._~-]+)*\/*$/;

export interface Range {
  readonly min?: number;
  readonly max?: number;
}
