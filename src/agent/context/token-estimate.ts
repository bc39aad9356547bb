/**
 * Estimates how many tokens a conversation takes, without its vendor, by the length of its text. Images and PDFs
 * count as vendors bill them on average, and not by the length of their base64, which would be a hundred times too
 * much. Text files count as their text.
 */

import { countJsonChars } from "../../base/json-size.ts";
import { weighText } from "../../base/text-weight.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";

/** Fewer than ordinary text has, as in `call-cost.ts`: an estimate that is too high is the safer error. */
export const CHARS_PER_TOKEN = 3;
/** An image in full detail; vendors count between 250 and 1,600. */
const IMAGE_TOKENS = 1600;
/** Base64 characters of a file for each token: a page of a PDF is some 50 KB and 1,500 tokens. */
const FILE_CHARS_PER_TOKEN = 40;

export interface Estimated {
  readonly items: readonly Item[];
  readonly instructions?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
}

export function estimateTokens({ items, instructions = "", tools = [] }: Estimated): number {
  const words = Math.ceil(weighText(instructions) / CHARS_PER_TOKEN);
  const offered = tools.length === 0 ? 0 : estimateValue(tools);
  return items.reduce((sum, item) => sum + estimateItem(item), words + offered);
}

/**
 * The sizes of items that were measured. Items do not change, and a long conversation is measured before each turn.
 */
const known = new WeakMap<Item, number>();

export function estimateItem(item: Item): number {
  const found = known.get(item);
  if (found !== undefined) return found;
  const tokens = estimateValue(item);
  known.set(item, tokens);
  return tokens;
}

const IMAGE_FIELDS: ReadonlySet<string> = new Set(["image_url", "result"]);
const FILE_FIELDS: ReadonlySet<string> = new Set(["file_data", "data"]);
/** Ids and addresses are shorter; longer fields are the data itself. */
const MIN_DATA_CHARS = 2000;

function estimateValue(value: unknown): number {
  let media = 0;
  const chars = countJsonChars(value, (text, name) => {
    if (isImage(text, name)) media += IMAGE_TOKENS;
    else if (text.length >= MIN_DATA_CHARS && FILE_FIELDS.has(name)) media += estimateFile(text);
    else return weighText(text);
    return 0;
  });
  return Math.ceil(chars / CHARS_PER_TOKEN) + media;
}

function isImage(text: string, name: string): boolean {
  if (text.length >= MIN_DATA_CHARS) return IMAGE_FIELDS.has(name);
  return name === "image_url" && /^https?:/.test(text);
}

/**
 * Told from its first bytes, because names and media types may be missing. A text has at least three bytes of UTF-8
 * for each token, in every script.
 */
function estimateFile(data: string): number {
  const start = data.startsWith("data:") ? data.indexOf(",") + 1 : 0;
  const head = data.slice(start, start + HEAD_CHARS);
  if (!BASE64.test(head)) return Math.ceil(weighText(data) / CHARS_PER_TOKEN);
  const isText = data.startsWith("data:text/") || isTextBytes(Buffer.from(head, "base64"));
  if (!isText) return Math.ceil(data.length / FILE_CHARS_PER_TOKEN);
  return Math.ceil(((data.length - start) * BYTES_PER_CHAR) / CHARS_PER_TOKEN);
}

/** Bytes for each character of base64. */
const BYTES_PER_CHAR = 3 / 4;
/** Whole groups of four characters. */
const HEAD_CHARS = 1024;
const BASE64 = /^[\w+/-]*={0,2}$/;

/** A PDF begins with readable lines. The head may end inside a character. */
function isTextBytes(head: Uint8Array): boolean {
  if (head.includes(0) || Buffer.from(head.subarray(0, 5)).toString() === "%PDF-") return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    // It is not text, which is not an error here.
    return false;
  }
}
