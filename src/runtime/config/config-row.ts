/** The description of a setting: its type and range, its default, its flag, and who may set it. */

import type { JsonObject } from "../../base/json.ts";

export type ConfigRow = {
  readonly summary: string;
  /** The flag of `offshoot run` that sets it; one that begins with `no-` switches it off. */
  readonly flag?: string;
  /** Another flag, which gives it a text. */
  readonly textFlag?: string;
  /** A project's file may set it only when trusted: it decides where data or money goes, or what is allowed. */
  readonly guarded?: true;
  /** A project's file never sets it, trusted or not. */
  readonly own?: true;
  /** An untrusted project's file may only set it lower than the user has. */
  readonly narrows?: true;
  /** Every layer adds to it; for other settings the last layer wins. */
  readonly joined?: true;
} & (
  | {
      readonly type: "string";
      readonly form?: "path" | "variable" | "prefix";
      readonly default?: string;
      /** An empty text in a file or variable is a value of its own: none, if the default is not none. */
      readonly empty?: true;
    }
  | ({ readonly type: "number" | "integer"; readonly default?: number } & NumberRange)
  | { readonly type: "boolean"; readonly default?: boolean }
  /** On, off, or where: a path or an address. */
  | { readonly type: "record"; readonly default?: boolean }
  | { readonly type: "list"; readonly form?: "rules"; readonly default?: readonly string[] }
  | { readonly type: "enum"; readonly values: readonly string[]; readonly default?: string }
  | { readonly type: "map"; readonly default?: JsonObject }
);

/** The prefix that may precede a server's addresses, with or without a slash at its end. */
export const PATH_PREFIX = /^(\/[A-Za-z0-9._~-]+)*\/*$/;

export interface NumberRange {
  readonly min?: number;
  readonly max?: number;
}
