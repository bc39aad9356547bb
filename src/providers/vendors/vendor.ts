/** The type of a vendor's row: its name, address, wires and key. */

import type { OwnFields } from "../http/own-fields.ts";
import type { Quirks, WireName } from "../wire.ts";

type KeyHeader = "api-key" | "x-api-key" | "x-goog-api-key";

/**
 * The header in which a key is sent. Without a key, `google`, `aws` and `azure` sign each request with the
 * machine's credentials; `azure` sends a key as `api-key`.
 */
export type Auth = "bearer" | KeyHeader | Cloud | "none";

/** Clouds for which a machine may have credentials of its own. */
export type Cloud = "google" | "aws" | "azure";

/** True if requests are signed with the machine's credentials when no key is named. */
export function isCloud(auth: Auth): auth is Cloud {
  return auth === "google" || auth === "aws" || auth === "azure";
}

export interface Vendor {
  readonly wire: WireName;
  /** Other wires of this vendor. */
  readonly alternatives?: readonly WireName[];
  /**
   * Empty if it differs for every user: it is then given, or follows from the environment. `{NAME}` in it
   * stands for the value of that variable: an account, a region.
   */
  readonly baseUrl: string;
  /** The environment variable that overrides `baseUrl`. */
  readonly baseUrlVariable?: string;
  /** Appended to an override that is a bare host: `https://me.openai.azure.com`. */
  readonly basePath?: string;
  /** The path after the base URL for a wire, if the vendor's wires differ in it. */
  readonly wirePaths?: Readonly<Partial<Record<WireName, string>>>;
  /** The variable with the key. Without a key nothing is sent, unless the vendor is `local`. */
  readonly keyVariable: string | undefined;
  readonly otherKeyVariables?: readonly string[];
  readonly auth: Auth;
  /** The page on which a person gets a key. */
  readonly keyUrl?: string;
  /** The user's own server: it may need no key, and only its user knows its models. */
  readonly local: boolean;
  readonly defaultModel: string | undefined;
  readonly quirks: Quirks;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Added to each request: by the user for a vendor of the settings, or because every request to it needs
   * them.
   */
  readonly fields?: OwnFields;
  /**
   * Set for `custom` and the vendors of the settings, which only the user knows. Their prices are unknown
   * unless the settings have them, and a key that is named for one must be set.
   */
  readonly own?: true;
  /** The vendor of ours that a vendor of the settings resembles. */
  readonly like?: string;
  /** The models that the settings list for it. */
  readonly models?: readonly string[];
  /** One line for the docs. */
  readonly summary: string;
}
