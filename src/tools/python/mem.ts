/** The argument `mem`: `512m`, `1g`. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";

const MIB = 1024 * 1024;
const UNITS: Readonly<Record<string, number>> = { k: 1024, m: MIB, g: 1024 * MIB };

/** With less, Python cannot start; with more, WebAssembly cannot address it. */
const MIN_BYTES = 64 * MIB;
const MAX_BYTES = 4096 * MIB;

export function parseMem(text: string): number {
  const [, digits = "", unit = ""] = /^\s*(\d{1,10})\s*([kmg])i?b?\s*$/i.exec(text) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  if (digits !== "" && bytes >= MIN_BYTES && bytes <= MAX_BYTES) return bytes;
  const given = clip(text, 20);
  throw new Failure("invalid_request", `mem: must be "64m" to "4g", not "${given}".`);
}
