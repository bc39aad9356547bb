/**
 * Limits the size of one request, besides the bytes of its body. Pure, and called before anything is opened.
 */

import { Failure } from "../../base/failure.ts";
import { MAX_DEPTH, measureJson } from "../../base/json-shape.ts";
import type { CreateResponse } from "../../protocol/request.ts";

export interface SizeLimits {
  readonly maxItems: number;
  readonly maxTools: number;
  /** Maximum size of an image or file in the request itself, decoded. */
  readonly maxImageBytes: number;
}

export const SIZE_LIMITS: SizeLimits = {
  maxItems: 10_000,
  maxTools: 1024,
  maxImageBytes: 20_000_000,
};

type Sized = Pick<CreateResponse, "input" | "tools">;

/**
 * Rejects a body whose lists are too long, before their content is examined: a schema takes a second for 100,000
 * invalid items.
 */
export function checkCounts(body: unknown, { maxItems, maxTools }: SizeLimits): void {
  if (typeof body !== "object" || body === null) return;
  const { input, messages, tools } = body as Readonly<Record<string, unknown>>;
  if (Array.isArray(input)) checkCount("input", input.length, maxItems);
  if (Array.isArray(messages)) checkCount("messages", messages.length, maxItems);
  if (Array.isArray(tools)) checkCount("tools", tools.length, maxTools);
}

/** Rejects with `invalid_request` and the parameter that is too large. */
export function checkSize({ input, tools }: Sized, limits: SizeLimits): void {
  const items = Array.isArray(input) ? input : [];
  checkCount("input", items.length, limits.maxItems);
  checkCount("tools", tools?.length ?? 0, limits.maxTools);
  for (const [at, item] of items.entries()) {
    for (const part of partsOf(item)) checkPart(`input[${at}]`, part, limits.maxImageBytes);
    checkArguments(`input[${at}].arguments`, item);
  }
}

const NOUNS = { input: "input items", messages: "messages", tools: "tools" } as const;

function checkCount(param: keyof typeof NOUNS, count: number, max: number): void {
  if (count <= max) return;
  const what = NOUNS[param];
  const message = `The request has ${count} ${what}; the server takes ${max} at most.`;
  throw new Failure("invalid_request", message, { param });
}

/**
 * A call's arguments are JSON in a text, which some vendors want as JSON: then it is parsed and written again.
 */
function checkArguments(param: string, item: object): void {
  const { arguments: text } = item as { arguments?: unknown };
  if (typeof text !== "string" || measureJson(text).depth <= MAX_DEPTH) return;
  const message = `\`${param}\` is nested deeper than ${MAX_DEPTH} levels.`;
  throw new Failure("invalid_request", message, { param });
}

/** The parts of a message or of a tool's result. */
function partsOf(item: object): readonly unknown[] {
  const { content, output } = item as { content?: unknown; output?: unknown };
  const lists = [content, output].filter((list) => Array.isArray(list)) as unknown[][];
  return [...lists.flat(), ...(isObject(output) ? [output] : [])];
}

function checkPart(param: string, part: unknown, maxBytes: number): void {
  if (!isObject(part)) return;
  for (const field of ["image_url", "file_data"]) {
    const value = part[field];
    if (typeof value !== "string" || sizeOf(value) <= maxBytes) continue;
    const message = `An image or file of the request is larger than ${maxBytes} bytes. Send it to \`/v1/files\`, or name its address.`;
    throw new Failure("invalid_request", message, { param });
  }
}

/** The size of base64 after the head of a `data:` URL; other addresses are never too large. */
function sizeOf(text: string): number {
  return text.startsWith("http") ? 0 : Math.floor((text.length - text.indexOf(",") - 1) * 0.75);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
