/**
 * Defines tools of your own. Their parameters are a zod schema, which makes the tool's input type match the
 * schema that the model gets; or a JSON schema, as in MCP; or any Standard Schema (zod 3, Valibot, ArkType)
 * beside an equivalent JSON schema for the model.
 */

import { z } from "zod";
import { Failure } from "../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import type { Effect, Targets, Tool, ToolContext, ToolOutput } from "./tool.ts";

interface Rest<In> {
  readonly name: string;
  readonly description: string;
  /** True if it changes nothing, so that it may run in parallel with others. */
  readonly readOnly: boolean;
  /** The effect on the world. If missing, it is a function of your program, which needs no approval. */
  readonly effect?: Effect;
  /** The time limit of a call, in place of the runtime's own limit. */
  readonly timeoutMs?: number;
  /** The paths, hosts or command that a call names, so that grants and rules apply to them. */
  targets?(input: In): Targets;
  /** Throw a `Failure` or any error to tell the model what was wrong. */
  run(input: In, context: ToolContext): Promise<Json | ToolOutput>;
}

/** The part of the Standard Schema interface (version 1) that is used here. */
interface StandardSchema<Out> {
  readonly "~standard": {
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>;
  };
}

type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type ZodDefinition<Schema extends z.ZodType> = Rest<z.infer<Schema>> & {
  readonly parameters: Schema;
};

type JsonDefinition = Rest<JsonObject> & {
  /**
   * A JSON schema of an object, for the model. The arguments of a call must be an object and are not
   * checked further.
   */
  readonly parameters: JsonObject;
};

type StandardDefinition<Out> = Rest<Out> & {
  /** The JSON schema for the model. */
  readonly parameters: JsonObject;
  /** Checks a call's arguments, synchronously: a promise is refused. */
  readonly validate: StandardSchema<Out>;
};

export function defineTool<Schema extends z.ZodType>(definition: ZodDefinition<Schema>): Tool;
export function defineTool<Out>(definition: StandardDefinition<Out>): Tool;
export function defineTool(definition: JsonDefinition): Tool;
export function defineTool(
  definition: Rest<never> & {
    readonly parameters: z.ZodType | JsonObject;
    readonly validate?: StandardSchema<unknown>;
  },
): Tool {
  const { name, description, readOnly, effect = "own", timeoutMs } = definition;
  checkName(name);
  const { schema, parse } = readParameters(definition);
  return {
    spec: { type: "function", name, description, parameters: schema, strict: false },
    readOnly,
    effect,
    timeoutMs,
    parse,
    // `parse` has returned what the definition's own schema promises.
    targets: (input) => definition.targets?.(input as never) ?? {},
    run: (input, context) => definition.run(input as never, context),
  };
}

/** The names that every vendor accepts. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function checkName(name: string): void {
  if (typeof name === "string" && NAME.test(name)) return;
  const message = `\`${name}\` is not a valid tool name. Use 1 to 64 letters, digits, _ and -.`;
  throw new Failure("invalid_request", message, { param: "name" });
}

interface Parameters {
  readonly schema: JsonObject;
  readonly parse: (input: Json) => unknown;
}

function readParameters(definition: {
  readonly name: string;
  readonly parameters: z.ZodType | JsonObject;
  readonly validate?: StandardSchema<unknown>;
}): Parameters {
  const { name, parameters, validate } = definition;
  if (parameters instanceof z.ZodType) {
    const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" }) as JsonObject;
    return { schema, parse: (input) => parseArguments(name, parameters, input) };
  }
  if (!isJsonObject(parameters) || "~standard" in parameters) {
    const message = `\`parameters\` of \`${name}\` must be a zod 4 schema or a JSON schema. Give another library's schema as \`validate\`, beside the JSON schema.`;
    throw new Failure("invalid_request", message, { param: "parameters" });
  }
  const { $schema: _, ...schema } = parameters;
  return { schema, parse: (input) => parseStandard(name, validate, input) };
}

function parseStandard(
  name: string,
  schema: StandardSchema<unknown> | undefined,
  input: Json,
): unknown {
  if (!isJsonObject(input)) throw toProblem(name, ["arguments: expected an object"]);
  if (!schema) return input;
  const result = schema["~standard"].validate(input);
  if (result instanceof Promise) {
    throw new Failure(
      "internal",
      `The schema of \`${name}\` checks asynchronously; use one that does not.`,
    );
  }
  if (result.issues === undefined) return result.value;
  throw toProblem(
    name,
    result.issues.map(({ path = [], message }) => {
      const keys = path.map((key) => String(typeof key === "object" ? key.key : key));
      return `${keys.join(".") || "arguments"}: ${message}`;
    }),
  );
}

function parseArguments(name: string, parameters: z.ZodType, input: Json): unknown {
  const parsed = parameters.safeParse(input);
  if (parsed.success) return parsed.data;
  throw toProblem(
    name,
    parsed.error.issues.map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`),
  );
}

function toProblem(name: string, problems: readonly string[]): Failure {
  const message = `The arguments of \`${name}\` do not fit: ${problems.join("; ")}.`;
  return new Failure("invalid_request", message);
}
