/** What is known of a vendor: whom one speaks to, where, in which words and with which key. */

import type { OwnFields } from "../http/own-fields.ts";
import type { Quirks } from "../wire.ts";
import type { WireName } from "../wires.ts";

type KeyHeader = "api-key" | "x-api-key" | "x-goog-api-key";

/**
 * The header a key is sent in, when there is one. Without a key, `google`, `aws` and `azure` sign each
 * request with the credentials that the machine has; `azure` sends a key as `api-key`.
 */
export type Auth = "bearer" | KeyHeader | Cloud | "none";

/** Whose credentials a machine may have by itself. */
export type Cloud = "google" | "aws" | "azure";

/** Whether requests are signed with what the machine has, where no key is named. */
export function isCloud(auth: Auth): auth is Cloud {
  return auth === "google" || auth === "aws" || auth === "azure";
}

export interface Vendor {
  readonly wire: WireName;
  /** Other wires this vendor speaks. */
  readonly alternatives?: readonly WireName[];
  /**
   * Empty where every user has another one: it is given, or follows from the environment. `{NAME}` in
   * it stands for the value of that variable: an account, a region.
   */
  readonly baseUrl: string;
  /** The environment variable that overrides `baseUrl`. */
  readonly baseUrlVariable?: string;
  /** Appended to an override that is a bare host: `https://me.openai.azure.com`. */
  readonly basePath?: string;
  /** What stands behind the base URL for a wire, where the vendor's wires differ in it. */
  readonly wirePaths?: Readonly<Partial<Record<WireName, string>>>;
  /** The variable that holds the key. Without a key nothing is sent, unless the vendor is `local`. */
  readonly keyVariable: string | undefined;
  readonly otherKeyVariables?: readonly string[];
  readonly auth: Auth;
  /** Where a person gets a key. */
  readonly keyUrl?: string;
  /** A server of the user's own: it may ask for no key, and what it serves only its user knows. */
  readonly local: boolean;
  readonly defaultModel: string | undefined;
  readonly quirks: Quirks;
  readonly headers?: Readonly<Record<string, string>>;
  /** What each request has besides: the user's for a vendor of the settings, or fields that every request to it needs. */
  readonly fields?: OwnFields;
  /**
   * Known to its user alone: `custom`, and the vendors of the settings. Its prices are unknown unless
   * the settings have them, and a key that is named for it must be there.
   */
  readonly own?: true;
  /** The vendor of ours whose ways one of the settings has. */
  readonly like?: string;
  /** The models that the settings list for it. */
  readonly models?: readonly string[];
  /** One line for the docs. */
  readonly summary: string;
}
