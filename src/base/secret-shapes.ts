/** The shapes of known kinds of keys: a setting with one of them is refused, and never shown. */

const SECRET_SHAPES: readonly RegExp[] = [
  /\b(sk|pk|rk|gsk|xai|hf|ghp|gho|github_pat|xox[abp]|glpat|csk|fw|nvapi|tgp)[-_](?=\S*\d)[\w-]{16,}/,
  /\bAIza[\w-]{30,}/,
  /\bwhsec_[A-Za-z0-9+/]{16,}/,
  /\bBearer\s+[\w.~+/=-]{16,}/i,
  // A password inside a URL.
  /:\/\/[^/\s:@]*:[^/\s@]+@/,
];

/** True if a text has the shape of a key. Only published shapes are known. */
export function looksSecret(value: unknown): boolean {
  if (typeof value === "string") return SECRET_SHAPES.some((shape) => shape.test(value));
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => looksSecret(key) || looksSecret(inner));
}
