/** Parses JSON from clients. Its depth, members and values are bounded before it is parsed. */

import { isUtf8 } from "node:buffer";
import { Failure } from "../base/failure.ts";
import { measureBytes } from "../base/json-bytes.ts";
import { type JsonShape, MAX_DEPTH, measureJson } from "../base/json-shape.ts";
import { parseLargeJson } from "../base/large-json.ts";
import { createSlices } from "../base/slices.ts";

/**
 * The most names in all objects together. Ten thousand items with their parts have half of it. A million names cost
 * seconds, whatever their values, because objects with different names share no shape.
 */
const MAX_MEMBERS = 300_000;

/**
 * The most values in all lists and objects together. The largest request for embeddings has 300,000 tokens. Ten
 * million numbers fit in a body of 20 MB, and each walk over them would take seconds.
 */
const MAX_VALUES = 500_000;

/** Larger JSON is parsed in slices. Smaller JSON is parsed at once, in about a millisecond. */
const LARGE_BYTES = 256 * 1024;

export interface SentJson {
  /** Names the JSON in a refusal: `The body`. */
  readonly what: string;
  /** The tenant who sent it: tenants take turns with large JSON. */
  readonly owner: string;
}

/** True if it is parsed in slices, which takes more than one turn of the event loop. */
export function isLargeJson(bytes: Buffer): boolean {
  return bytes.length > LARGE_BYTES;
}

/** Rejects with `invalid_request` what is not UTF-8, not JSON or beyond the bounds. */
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

/** Parses bytes as `parseLargeBytes` does, but in one turn of the event loop. */
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

/** The byte order mark with which some editors begin a file. It is not part of the text. */
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
  return new Failure("invalid_request", `${what} is not JSON.`, { cause });
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
