/**
 * Reads the words of a document or a presentation in the Office Open XML formats: a ZIP archive of XML files. Only
 * the needed parts of both formats are read: entries by the central directory, and the elements that contain text.
 */

import { inflateRawSync } from "node:zlib";
import { Failure } from "../../base/failure.ts";

/**
 * The most bytes of all parts together, unpacked. A document of a thousand pages has a fifth of it. A malicious
 * archive has more, made of a few bytes or of one part under many names.
 */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

/** Rejects with `tool_failed` a file that is not such an archive. */
export function readOfficeText(bytes: Uint8Array): string {
  const entries = readEntries(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const names = [...entries.keys()].filter((name) => PARTS.test(name)).sort(byNumber);
  if (names.length === 0) throw broken("it has no document inside");
  let left = MAX_BYTES;
  const words = names.map((name) => {
    const xml = entries.get(name)?.(left) ?? "";
    left -= Math.max(xml.length, 1);
    return toWords(xml);
  });
  return words.join("\n\n");
}

/** The body of a document, its notes, and the slides of a presentation with theirs. */
const PARTS =
  /^(?:word\/(?:document|footnotes|endnotes)|ppt\/(?:slides\/slide|notesSlides\/notesSlide)\d+)\.xml$/;

/** `slide10` comes after `slide9`. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** No pattern looks past the next `<`: one that did would read the rest again at each of them. */
function toWords(xml: string): string {
  return xml
    .replace(/<(?:w|a):tab\/>/g, "\t")
    .replace(/<(?:w|a):(?:br|cr)\b[^<>]*\/>/g, "\n")
    .replace(/<\/(?:w|a):p>/g, "\n")
    .replace(/<\/w:tc>/g, "\t")
    .replace(/<w:(?:instrText|delText)\b[^<>]*>[^<]*</g, "<")
    .replace(/<[^<>]*>/g, "")
    .replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, toChar)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function toChar(_: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? "";
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
/** The record at the end has 22 bytes and a comment of at most 65535. */
const MAX_TAIL = 22 + 0xffff;

/** Returns the content of an entry. Rejects if it is more than `maxBytes`. */
type ReadEntry = (maxBytes: number) => string;

function readEntries(zip: Buffer): Map<string, ReadEntry> {
  try {
    const end = findEnd(zip);
    const count = Math.min(zip.readUInt16LE(end + 10), MAX_ENTRIES);
    const entries = new Map<string, ReadEntry>();
    let at = zip.readUInt32LE(end + 16);
    for (let index = 0; index < count; index++) {
      if (zip.readUInt32LE(at) !== ENTRY_SIGNATURE) throw broken("its list of parts is cut");
      const nameLength = zip.readUInt16LE(at + 28);
      const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
      const header = at;
      entries.set(name, (maxBytes) => readEntry(zip, header, maxBytes));
      at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    }
    return entries;
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw broken("it is cut", cause);
  }
}

function findEnd(zip: Buffer): number {
  const from = Math.max(0, zip.length - MAX_TAIL);
  for (let at = zip.length - 22; at >= from; at--) {
    if (zip.readUInt32LE(at) === END_SIGNATURE) return at;
  }
  throw broken("it is not an archive");
}

function readEntry(zip: Buffer, header: number, maxBytes: number): string {
  if (maxBytes <= 0) throw broken("it is too large");
  try {
    const method = zip.readUInt16LE(header + 10);
    const size = zip.readUInt32LE(header + 20);
    const local = zip.readUInt32LE(header + 42);
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const packed = zip.subarray(from, from + size);
    const bytes =
      method === 0
        ? packed.subarray(0, maxBytes)
        : inflateRawSync(packed, { maxOutputLength: maxBytes });
    return bytes.toString("utf8");
  } catch (cause) {
    throw broken("a part of it cannot be unpacked", cause);
  }
}

function broken(why: string, cause?: unknown): Failure {
  return new Failure("tool_failed", `The document cannot be read: ${why}.`, { cause });
}
