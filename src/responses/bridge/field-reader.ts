/**
 * Reads one text field of a JSON object while the object is still being written, so that text which a model writes
 * into `{"input": "…"}` is shown as it comes. Invalid JSON gives nothing; the complete arguments are parsed at the
 * end in any case.
 */

export interface FieldReader {
  /** Takes the next piece and returns what it adds to the field's text. */
  read(piece: string): string;
}

export function createFieldReader(field: string): FieldReader {
  let text = "";
  let at: number | undefined;
  let isOver = false;

  return {
    read(piece) {
      if (isOver) return "";
      text += piece;
      at ??= findValue(text, field);
      if (at === undefined) return "";
      const { value, next, ended } = readString(text, at);
      // Text that was read is dropped: otherwise a long text in small pieces would cost the square of its length.
      text = text.slice(next);
      at = 0;
      isOver = ended;
      return value;
    },
  };
}

/** The position of the value's first character; undefined while it is not written yet. */
function findValue(text: string, field: string): number | undefined {
  const found = new RegExp(`^\\s*\\{\\s*"${field}"\\s*:\\s*"`).exec(text);
  return found?.[0].length;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
};

function readString(text: string, from: number): { value: string; next: number; ended: boolean } {
  let value = "";
  let at = from;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '"') return { value, next: at + 1, ended: true };
    if (char !== "\\") {
      value += char;
      at++;
      continue;
    }
    const escaped = readEscape(text, at);
    if (!escaped) break;
    value += escaped.char;
    at = escaped.next;
  }
  return { value, next: at, ended: false };
}

/** Undefined while it is incomplete. */
function readEscape(text: string, at: number): { char: string; next: number } | undefined {
  const kind = text.charAt(at + 1);
  if (kind === "") return undefined;
  if (kind !== "u") return { char: ESCAPES[kind] ?? kind, next: at + 2 };
  const hex = text.slice(at + 2, at + 6);
  if (hex.length < 4) return undefined;
  return { char: String.fromCharCode(Number.parseInt(hex, 16)), next: at + 6 };
}
