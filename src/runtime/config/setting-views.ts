/** The settings for a reader elsewhere: what could be a secret is not shown. Pure. */

import type { Redact } from "../../base/redact.ts";
import type { SettingView } from "../about-views.ts";
import type { Config } from "./config.ts";
import { rowOf } from "./config-keys.ts";

export function toSettingViews(
  config: Pick<Config, "entries">,
  redact: Redact,
): readonly SettingView[] {
  return config.entries().map(({ name, value, source }) => {
    const shown: unknown = JSON.parse(redact(JSON.stringify(value ?? null, hideSecrets)));
    return { name, value: shown, source, summary: rowOf(name).summary };
  });
}

/** Maps of headers and variables that a user gave a server or a program. */
const HIDING = /^(headers|env|environment)$/i;
const SECRET = /token|secret|password|authorization/i;

/** Hides texts below such a name; shows names and numbers. */
function hideSecrets(this: unknown, name: string, value: unknown): unknown {
  if (typeof value === "string" && SECRET.test(name)) return HIDDEN;
  if (!HIDING.test(name) || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((key) => [key, HIDDEN]));
}

const HIDDEN = "(hidden)";
