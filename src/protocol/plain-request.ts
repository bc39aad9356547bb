/**
 * The requests that most clients send, recognised without the schema: only known fields with plain values.
 * It accepts only what the schema would accept, and leaves everything else to the schema. It exists because
 * it costs a twentieth (bench/gateway.ts).
 */

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";

function isNumber(min: number, max: number): Check {
  return (value) => typeof value === "number" && value >= min && value <= max;
}

const FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  input: (value) => isText(value) || (Array.isArray(value) && value.every(isPlainMessage)),
  instructions: isText,
  stream: isFlag,
  store: isFlag,
  temperature: isNumber(0, 2),
  top_p: isNumber(0, 1),
  max_output_tokens: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  user: isText,
  reasoning: (value) => isObject(value) && fits(value, { effort: (effort) => effort === "none" }),
};

const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);

const MESSAGE_FIELDS: Readonly<Record<string, Check>> = {
  type: (value) => value === "message",
  role: (value) => ROLES.has(value),
  content: isText,
};

function isPlainMessage(value: unknown): boolean {
  return isObject(value) && "role" in value && "content" in value && fits(value, MESSAGE_FIELDS);
}

export function isPlainRequest(body: unknown): boolean {
  return isObject(body) && fits(body, FIELDS);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fits(
  value: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, Check>>,
): boolean {
  for (const name in value) {
    if (!Object.hasOwn(fields, name) || !fields[name]?.(value[name])) return false;
  }
  return true;
}
