/** JSON that somebody sent: bounded in depth, in members and in values before it is parsed. */

import { isUtf8 } from "node:buffer";
import { Failure } from "../base/failure.ts";
import { measureBytes } from "../base/json-bytes.ts";
import { type JsonShape, MAX_DEPTH, measureJson } from "../base/json-shape.ts";
import { parseLargeJson } from "../base/large-json.ts";
import { createSlices } from "../base/slices.ts";

/**
 * Names in all objects together. Ten thousand items with their parts have half of it; a million cost
 * seconds, whatever stands behind them, because objects with names of their own share no shape.
 */
const MAX_MEMBERS = 300_000;

/**
 * Values in all lists and objects together. The largest request for embeddings has 300,000 tokens; ten
 * million numbers fit in a body of 20 MB, and everybody who walks over them would take seconds.
 */
const MAX_VALUES = 500_000;

/** Larger JSON is parsed in slices; smaller in about a millisecond, at once. */
const LARGE_BYTES = 256 * 1024;

export interface SentJson {
  /** Names it in the refusal: `The body`. */
  readonly what: string;
  /** Whose it is: tenants take turns with what is large. */
  readonly owner: string;
}

/** Whether it is parsed in slices, which takes more than one turn of the event loop. */
export function isLargeJson(bytes: Buffer): boolean {
  return bytes.length > LARGE_BYTES;
}

/** Rejects with `invalid_request` what is no UTF-8, no JSON or beyond the bounds. */
export async function parseLargeBytes(bytes: Buffer, { what, owner }: SentJson): Promise<unknown> {
  const slices = createSlices(owner);
  await slices.next();
  if (!isUtf8(bytes)) throw toNoUtf8(what);
  const text = hasMark(bytes) ? bytes.subarray(MARK.length) : bytes;
  checkShape(await measureBytes(text, slices, MAX_VALUES), what);
  try {
    return await parseLargeJson(text, slices);
  } catch (cause) {
    throw toNoJson(what, cause);
  }
}

/** The same, at once. */
export function parseJsonBytes(bytes: Buffer, what: string): unknown {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch (cause) {
    throw toNoUtf8(what, cause);
  }
  checkShape(measureJson(text), what);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw toNoJson(what, cause);
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Some editors begin a file with it; it is not part of the text. */
const MARK = [0xef, 0xbb, 0xbf];

function hasMark(bytes: Buffer): boolean {
  return MARK.every((byte, at) => bytes[at] === byte);
}

function checkShape({ depth, members, values }: JsonShape, what: string): void {
  if (depth > MAX_DEPTH) throw invalid(`${what} is nested deeper than ${MAX_DEPTH} levels.`);
  if (members > MAX_MEMBERS) throw invalid(`${what} has more than ${MAX_MEMBERS} names in it.`);
  if (values > MAX_VALUES) throw invalid(`${what} has more than ${MAX_VALUES} values in it.`);
}

function toNoUtf8(what: string, cause?: unknown): Failure {
  return new Failure("invalid_request", `${what} is not UTF-8.`, { cause });
}

function toNoJson(what: string, cause: unknown): Failure {
  return new Failure("invalid_request", `${what} is no JSON.`, { cause });
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
