/**
 * Keeps secrets out of what is written: logs, messages, records.
 *
 * In two ways: known secrets (the values of key variables) are replaced wherever they occur; text that only
 * looks like one (`Bearer …`, `sk-…`, `key=…`) is replaced by its shape.
 */

import { storedSecrets } from "./stored-keys.ts";

const SHAPES: readonly RegExp[] = [
  /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\b(whsec_)[A-Za-z0-9+/=]{16,}/g,
  // Tokens that clouds issue: Entra ID and others (JWT), Google.
  /\b(eyJ|ya29\.)[\w-]{8,}(?:\.[\w-]+)*/g,
  /\b((?:sk|osk|pk|gsk|xai|xoxb|ghp|github_pat|hf)[-_]|AIza)[A-Za-z0-9_-]{16,}/g,
  /\b((?:api[-_]?key|access[-_]?token|authorization|password|secret)["']?\s*[:=]\s*["']?)[^\s"',&]{6,}/gi,
];

/** A shorter key is not replaced: it would turn common words into stars. */
const MIN_SECRET_CHARS = 6;

export type Redact = (text: string) => string;

/**
 * Makes the function that removes secrets. `secrets` are the values that must never be seen, in any order.
 */
export function createRedact(secrets: Iterable<string>): Redact {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, "[redacted]");
    for (const shape of SHAPES) {
      clean = clean.replace(shape, (match, lead: string) =>
        /[:=]\s*["']?$/.test(lead)
          ? `${lead}[redacted]`
          : `${match.slice(0, lead.length)}[redacted]`,
      );
    }
    return clean;
  };
}

/** A secret of this length or longer cannot be an ordinary word of a file. Passwords are often names. */
const MIN_KEY_CHARS = 16;

/** Replaces the secrets themselves, and nothing that looks like one: for text that is worked with. */
export function redactExactly(secrets: Iterable<string>): Redact {
  const known = [...new Set(secrets)].filter(({ length }) => length >= MIN_KEY_CHARS);
  known.sort((a, b) => b.length - a.length);
  return (text) => known.reduce((clean, key) => clean.replaceAll(key, "[redacted]"), text);
}

/**
 * The stored keys, and the values of all variables whose names say that they hold a secret, not the path of
 * one.
 */
export function findSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  const secretName = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)/i;
  const placeName = /(_FILE|_PATH|_DIR|_URI|_URL|^GOOGLE_APPLICATION_CREDENTIALS)$/i;
  const named = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && secretName.test(name) && !placeName.test(name) ? [value] : [],
  );
  return [...named, ...storedSecrets(env)];
}
