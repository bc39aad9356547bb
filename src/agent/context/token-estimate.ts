/**
 * How many tokens a conversation takes, as far as that can be told without its vendor: by the length of
 * its text. Images and files count as vendors bill them on average, and not by the length of their
 * base64, which would be a hundred times too much.
 */

import { countJsonChars } from "../../base/json-size.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";

/** Fewer than ordinary text has, as in `call-cost.ts`: it is better to think a text too long. */
export const CHARS_PER_TOKEN = 3;
/** An image of ordinary size in full detail; vendors are between 250 and 1,600. */
const IMAGE_TOKENS = 1000;
/** Of a file's base64: a page of a PDF is some 50 KB and 1,500 tokens. */
const FILE_CHARS_PER_TOKEN = 40;

export interface Estimated {
  readonly items: readonly Item[];
  readonly instructions?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
}

export function estimateTokens({ items, instructions = "", tools = [] }: Estimated): number {
  const words = Math.ceil(instructions.length / CHARS_PER_TOKEN);
  const offered = tools.length === 0 ? 0 : estimateValue(tools);
  return items.reduce((sum, item) => sum + estimateItem(item), words + offered);
}

/** Items do not change, and a long conversation is measured before each turn. */
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
/** Ids and addresses are shorter; what is longer is the thing itself. */
const MIN_DATA_CHARS = 2000;

function estimateValue(value: unknown): number {
  let media = 0;
  const chars = countJsonChars(value, ({ length }, name) => {
    if (length < MIN_DATA_CHARS) return length;
    if (IMAGE_FIELDS.has(name)) media += IMAGE_TOKENS;
    else if (FILE_FIELDS.has(name)) media += Math.ceil(length / FILE_CHARS_PER_TOKEN);
    else return length;
    return 0;
  });
  return Math.ceil(chars / CHARS_PER_TOKEN) + media;
}
