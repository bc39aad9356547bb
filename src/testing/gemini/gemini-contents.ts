/**
 * The contents that the service refuses. Two rules need earlier contents: calls are answered at once, all of them
 * and nothing else; and the first call of each step since the user last spoke is signed.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import {
  type GeminiCheck,
  type GeminiRejection,
  invalidArgument,
  invalidField,
  unknownName,
} from "./gemini-rejection.ts";
import { isSigningModel, type Signatures } from "./gemini-signature.ts";

const PART_FIELDS: Readonly<Record<string, readonly string[]>> = {
  functionCall: ["id", "name", "args", "partialArgs", "willContinue"],
  functionResponse: ["id", "name", "response", "parts", "scheduling", "willContinue"],
  inlineData: ["mimeType", "data", "displayName"],
  fileData: ["mimeType", "fileUri", "displayName"],
  executableCode: ["id", "language", "code"],
  codeExecutionResult: ["id", "outcome", "output"],
  toolCall: ["id", "toolType", "args"],
  toolResponse: ["id", "toolType", "response"],
};
const DATA = ["text", ...Object.keys(PART_FIELDS)];
const PART_EXTRAS = ["thought", "thoughtSignature", "videoMetadata", "mediaResolution"];

export interface ContentsContext {
  readonly model: string;
  readonly signatures: Signatures;
}

export function* checkContents(value: Json | undefined, context: ContentsContext): GeminiCheck {
  if (!Array.isArray(value) || value.length === 0) {
    return yield invalidField("contents", "contents is not specified");
  }
  for (const [index, content] of value.entries()) {
    yield* checkContent(content, `contents[${index}]`);
  }
  const contents = joinSteps(value.filter(isJsonObject));
  yield* checkTurns(contents);
  yield* checkSignatures(contents, context);
}

export function* checkContent(content: Json, place: string): GeminiCheck {
  if (!isJsonObject(content)) {
    return yield invalidArgument(`Invalid value at '${place}' (type.googleapis.com/Content)`);
  }
  for (const name of Object.keys(content)) {
    if (name !== "role" && name !== "parts") yield unknownName(name, place);
  }
  const role = content["role"] ?? "user";
  if (role !== "user" && role !== "model") {
    yield invalidArgument("Please use a valid role: user, model.");
  }
  const parts = partsOf(content);
  if (parts.length === 0) {
    yield invalidField(`${place}.parts`, "contents.parts must not be empty.");
  }
  for (const [index, part] of parts.entries()) yield* checkPart(part, `${place}.parts[${index}]`);
}

export function partsOf(content: JsonObject): readonly JsonObject[] {
  const { parts } = content;
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

function* checkPart(part: JsonObject, place: string): GeminiCheck {
  for (const name of Object.keys(part)) {
    if (![...DATA, ...PART_EXTRAS].includes(name)) yield unknownName(name, place);
  }
  const [kind, other] = DATA.filter((name) => part[name] !== undefined);
  if (kind === undefined) {
    return yield invalidField(
      `${place}.data`,
      "required oneof field 'data' must have one initialized field",
    );
  }
  if (other !== undefined) {
    yield invalidArgument(
      `Invalid value at '${place}' (oneof), oneof field 'data' is already set. Cannot set '${other}'`,
    );
  }
  const data = part[kind];
  if (!isJsonObject(data)) return;
  for (const name of Object.keys(data)) {
    if (!PART_FIELDS[kind]?.includes(name)) yield unknownName(name, `${place}.${toSnake(kind)}`);
  }
  yield* checkData(kind, data, place);
}

function* checkData(kind: string, data: JsonObject, place: string): GeminiCheck {
  if (kind === "functionCall" || kind === "functionResponse") {
    yield* checkResponseMedia(data, `${place}.${toSnake(kind)}`);
    if (typeof data["name"] === "string" && data["name"] !== "") return;
    yield invalidField(`${place}.${toSnake(kind)}.name`, "Name cannot be empty.");
  }
  if (kind !== "inlineData") return;
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(String(data["data"]))) {
    yield invalidArgument(
      `Invalid value at '${place}.inline_data.data' (TYPE_BYTES), Base64 decoding failed for "${String(data["data"]).slice(0, 40)}"`,
    );
  }
  if (REFUSED_TYPES.includes(String(data["mimeType"]))) {
    yield invalidArgument(`Unsupported MIME type: ${String(data["mimeType"])}`);
  }
}

/** A function's response may have bytes of a few kinds, and no addresses. */
function* checkResponseMedia(data: JsonObject, place: string): GeminiCheck {
  for (const [index, { inlineData, ...other }] of partsOf(data).entries()) {
    const [name] = Object.keys(other);
    if (name !== undefined) yield unknownName(name, `${place}.parts[${index}]`);
    const type = isJsonObject(inlineData) ? String(inlineData["mimeType"]) : "";
    if (RESPONSE_TYPES.includes(type)) continue;
    yield invalidArgument(`Unsupported MIME type: ${type}`);
  }
}

const RESPONSE_TYPES = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

const REFUSED_TYPES = ["image/gif", "image/svg+xml", "image/bmp", "image/tiff"];

/** Google's own clients send each event's parts back as a content of its own: together they are a step. */
function joinSteps(contents: readonly JsonObject[]): JsonObject[] {
  const steps: JsonObject[] = [];
  for (const content of contents) {
    const last = steps.at(-1);
    if (content["role"] !== "model" || last?.["role"] !== "model") steps.push(content);
    else steps[steps.length - 1] = { ...last, parts: [...partsOf(last), ...partsOf(content)] };
  }
  return steps;
}

const UNEQUAL = invalidArgument(
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
);

function* checkTurns(contents: readonly JsonObject[]): GeminiCheck {
  let calls: readonly JsonObject[] = [];
  for (const [index, content] of contents.entries()) {
    const responses = dataOf(content, "functionResponse");
    yield* checkResponses(responses, calls);
    calls = dataOf(content, "functionCall");
    if (calls.length > 0 && index === 0) {
      yield invalidArgument(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    }
  }
  if (calls.length > 0) yield UNEQUAL;
}

function* checkResponses(
  responses: readonly JsonObject[],
  calls: readonly JsonObject[],
): GeminiCheck {
  if (responses.length > 0 && calls.length === 0) {
    yield invalidArgument(
      "Please ensure that function response turn comes immediately after a function call turn.",
    );
  }
  if (responses.length !== calls.length) yield UNEQUAL;
  for (const { id, name } of responses) {
    const isAnswer = calls.some(
      (call) => call["name"] === name && (id ?? call["id"]) === call["id"],
    );
    if (!isAnswer) yield unmatched(id, name);
  }
}

function unmatched(id: Json | undefined, name: Json | undefined): GeminiRejection {
  const which = id === undefined ? `name '${String(name)}'` : `id '${String(id)}'`;
  return invalidArgument(`The function response with ${which} matches no function call.`);
}

function dataOf(content: JsonObject, kind: string): readonly JsonObject[] {
  return partsOf(content).flatMap((part) => (isJsonObject(part[kind]) ? [part[kind]] : []));
}

function* checkSignatures(contents: readonly JsonObject[], context: ContentsContext): GeminiCheck {
  const spoken = contents.findLastIndex(
    (content) => content["role"] !== "model" && dataOf(content, "functionResponse").length === 0,
  );
  for (const [index, content] of contents.entries()) {
    const parts = partsOf(content);
    for (const part of parts) {
      if (part["thoughtSignature"] !== undefined && !context.signatures.isValid(part)) {
        yield invalidArgument("Corrupted thought signature.");
      }
    }
    const first = parts.find((part) => part["functionCall"]);
    if (index > spoken && first) yield* checkSigned(first, index, context);
  }
}

function* checkSigned(
  part: JsonObject,
  index: number,
  { model, signatures }: ContentsContext,
): GeminiCheck {
  const isOld = /gemini-[12]|gemma/.test(model);
  const isNeeded = isSigningModel(model) || (!isOld && signatures.hasSigned(part));
  if (!isNeeded || part["thoughtSignature"] !== undefined) return;
  const { name } = part["functionCall"] as { name?: string };
  yield invalidArgument(
    `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
  );
}

/** In the spelling of the service's messages. */
export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
