/**
 * Decodes a page's bytes to text. The character set comes from the same sources as in browsers, in the same
 * order: a byte order mark, the `Content-Type` header, a `<meta>` near the top; otherwise UTF-8 if the
 * bytes are valid, else windows-1252.
 */

/** Browsers look for a `<meta>` no further than this. */
const META_BYTES = 1024;

export function decodeHtml(bytes: Uint8Array, contentType: string | undefined): string {
  const marked = fromByteOrderMark(bytes);
  if (marked) return decodeAs(marked, bytes);
  const label = fromHeader(contentType) ?? fromMeta(bytes) ?? guess(bytes);
  return decodeAs(label, bytes);
}

function fromByteOrderMark(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function fromHeader(contentType: string | undefined): string | undefined {
  return toEncoding(/charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? "")?.[1]);
}

function fromMeta(bytes: Uint8Array): string | undefined {
  const top = Buffer.from(bytes.subarray(0, META_BYTES)).toString("latin1");
  const meta = /<meta\b[^>]{0,300}?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(top);
  const declared = meta ?? /^\s*<\?xml\b[^>]{0,200}?encoding\s*=\s*["']([^"']+)/i.exec(top);
  const encoding = toEncoding(declared?.[1]);
  // A text whose bytes could be read up to here is not UTF-16, whatever it says.
  return encoding?.startsWith("utf-16") ? "utf-8" : encoding;
}

/** The standard name of a character set; undefined if the label is unknown. */
function toEncoding(label: string | undefined): string | undefined {
  if (!label) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    // An unknown label means nothing; the next source is tried.
    return undefined;
  }
}

function guess(bytes: Uint8Array): string {
  try {
    // As a stream: a body that was cut in the middle of a character is still UTF-8.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

function decodeAs(encoding: string, bytes: Uint8Array): string {
  if (encoding !== "windows-1252") return new TextDecoder(encoding).decode(bytes);
  // Node 20 and 22 read windows-1252 as Latin-1, which has no quotes and no euro sign. Remove this when
  // `new TextDecoder("windows-1252")` gives "€" for the byte 0x80.
  const text = Buffer.from(bytes).toString("latin1");
  return text.replace(/[\u0080-\u009f]/g, (char) => HIGH_CHARS[char.charCodeAt(0) - 0x80] ?? char);
}

/** The characters of windows-1252 from 0x80 to 0x9f; the five undefined ones stay unchanged. */
const HIGH_CHARS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";
