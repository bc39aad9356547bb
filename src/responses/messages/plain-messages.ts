/**
 * Recognises the Messages requests that most clients of a gateway send, without their schema, as
 * `protocol/plain-request.ts` does for the Responses API: it accepts only what the schema would accept.
 */

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isPart: Check = (value) => typeof value === "number" && value >= 0 && value <= 1;

const FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  max_tokens: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  messages: (value) => Array.isArray(value) && value.length > 0 && value.every(isPlainMessage),
  system: isText,
  stream: (value) => typeof value === "boolean",
  temperature: isPart,
  top_p: isPart,
};

const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "system"]);

function isPlainMessage(value: unknown): boolean {
  if (!isObject(value) || !ROLES.has(value["role"])) return false;
  return typeof value["content"] === "string" && Object.keys(value).length === 2;
}

export function isPlainMessages(body: unknown): boolean {
  if (!isObject(body) || !("messages" in body)) return false;
  for (const name in body) {
    if (!Object.hasOwn(FIELDS, name) || !FIELDS[name]?.(body[name])) return false;
  }
  return true;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
