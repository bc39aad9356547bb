/**
 * A prompt that the operator stores: defaults for requests that name it, and text with gaps that variables fill.
 * Pure; the runtime finds the files.
 *
 * The text is the instructions. If the prompt has `instructions` of its own, or says `role: user`, the text is the
 * user's first message, and its gaps may be filled with images and files.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";

export interface StoredPrompt {
  /** Parameters of requests and `role`; other fields are refused. */
  readonly fields: JsonObject;
  readonly text: string;
}

/** Undefined if there is none. `version` undefined means the present one. */
export type FindPrompt = (
  id: string,
  version: string | undefined,
) => Promise<StoredPrompt | undefined>;

/** Parameters of a single request, which a prompt cannot set. */
const NOT_DEFAULTS = ["role", "input", "prompt", "stream", "store", "background"] as const;
const NOT_CARRIED = ["previous_response_id", "conversation", "stream_options"] as const;

/**
 * The body of a request with its prompt in it. Values of the request win. A body that names no prompt, or is not an
 * object, is returned unchanged: the parser reports what is wrong with it.
 */
/** True if the body names a prompt. */
export function namesPrompt(body: unknown): boolean {
  return isJsonObject(body) && isJsonObject(body["prompt"]);
}

export async function applyPrompt(body: unknown, findPrompt: FindPrompt): Promise<unknown> {
  if (!isJsonObject(body) || !isJsonObject(body["prompt"])) return body;
  const { id, version, variables } = body["prompt"];
  if (typeof id !== "string") return body;
  const found = await findPrompt(id, typeof version === "string" ? version : undefined);
  if (!found) {
    const named =
      typeof version === "string"
        ? `\`${clip(id, 80)}\` in version \`${clip(version, 40)}\``
        : `\`${clip(id, 80)}\``;
    throw new Failure("not_found", `There is no prompt ${named}.`, { param: "prompt.id" });
  }
  const given = isJsonObject(variables) ? variables : {};
  return join(body, found, given);
}

function join(body: JsonObject, { fields, text }: StoredPrompt, given: JsonObject): JsonObject {
  const said = Object.entries(body).filter(([, value]) => value !== null && value !== undefined);
  const hidden: ReadonlySet<string> = new Set([...NOT_DEFAULTS, ...NOT_CARRIED]);
  const defaults = Object.entries(fields).filter(([name]) => !hidden.has(name));
  const own = fields["instructions"];
  const isMessage = typeof own === "string" || fields["role"] === "user";
  const instructions = isMessage ? own : text;
  const joined: JsonObject = {
    ...Object.fromEntries(defaults),
    ...(instructions ? { instructions: fillText(String(instructions), given) } : {}),
    ...Object.fromEntries(said),
  };
  if (!isMessage || text.trim() === "") return joined;
  const message: JsonObject = { type: "message", role: "user", content: fillParts(text, given) };
  return { ...joined, input: [message, ...toList(body["input"])] };
}

/** The names of its gaps, in the order of its text. */
export function gapsOf(prompt: StoredPrompt): readonly string[] {
  return [...new Set([...toWhole(prompt).matchAll(GAP)].map(([, name = ""]) => name))];
}

/** The whole prompt as one text. Throws if a gap has no value. */
export function fillPrompt(prompt: StoredPrompt, given: JsonObject): string {
  return fillText(toWhole(prompt), given);
}

function toWhole({ fields: { instructions }, text }: StoredPrompt): string {
  return typeof instructions === "string" ? `${instructions}\n\n${text}` : text;
}

function toList(input: Json | undefined): readonly Json[] {
  if (input === null || input === undefined) return [];
  if (typeof input !== "string") return Array.isArray(input) ? input : [input];
  return [{ type: "message", role: "user", content: input }];
}

const GAP = /\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\}/g;

function fillText(text: string, given: JsonObject): string {
  return text.replace(GAP, (_, name: string) => {
    const value = readValue(name, given);
    const words = toWords(value);
    if (words !== undefined) return words;
    throw invalid(name, "is in the prompt's instructions, which take text alone");
  });
}

/** Consecutive texts become one part. */
function fillParts(text: string, given: JsonObject): JsonObject[] {
  const parts: JsonObject[] = [];
  let words = "";
  let from = 0;
  const flush = (): void => {
    if (words.trim() !== "") parts.push({ type: "input_text", text: words });
    words = "";
  };
  for (const gap of text.matchAll(GAP)) {
    const value = readValue(gap[1] ?? "", given);
    words += text.slice(from, gap.index);
    from = gap.index + gap[0].length;
    const filled = toWords(value);
    if (filled !== undefined) {
      words += filled;
      continue;
    }
    flush();
    parts.push(value as JsonObject);
  }
  words += text.slice(from);
  flush();
  return parts;
}

function readValue(name: string, given: JsonObject): Json {
  const value = Object.hasOwn(given, name) ? given[name] : undefined;
  if (value !== undefined && value !== null) return value;
  throw invalid(name, "is missing: the prompt has a gap for it");
}

/** Undefined if it is not text: an image, a file. */
function toWords(value: Json): string | undefined {
  if (isJsonObject(value)) {
    return value["type"] === "input_text" ? String(value["text"] ?? "") : undefined;
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

function invalid(name: string, what: string): Failure {
  const message = `The variable \`${clip(name, 60)}\` ${what}.`;
  return new Failure("invalid_request", message, { param: `prompt.variables.${clip(name, 60)}` });
}
