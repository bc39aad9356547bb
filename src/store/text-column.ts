/**
 * A text column takes no NUL and no half of a surrogate pair, but ids come from models and clients. Such a text is
 * stored as a JSON string; so is a text that starts like one.
 */

export function toColumn(text: string): string {
  return /^"|[\0\p{Surrogate}]/u.test(text) ? JSON.stringify(text) : text;
}

export function toNullable(text: string | null): string | null {
  return text === null ? null : toColumn(text);
}

export function fromColumn(value: unknown): string {
  const text = String(value);
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

export function fromNullable(value: unknown): string | null {
  return value === null || value === undefined ? null : fromColumn(value);
}
