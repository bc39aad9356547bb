/**
 * The contract of a tool: what the model is told, whether it changes anything, and what it does.
 *
 * A tool that throws is news for the model, not the end of the run; only cancelling is. Tools are
 * reached through `gate.ts` alone.
 */

import { z } from "zod";
import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { FunctionTool } from "../protocol/tools.ts";

export interface Tool {
  readonly spec: FunctionTool;
  /** Read-only calls of one turn run side by side; the others run in the order they were made. */
  readonly readOnly: boolean;
  /** Checks the arguments; rejects with `Failure("invalid_request")` that names what is wrong. */
  parse(input: Json): unknown;
  /** `input` is what `parse` gave. Text is sent as it is, anything else as JSON. */
  run(input: unknown, context: ToolContext): Promise<Json>;
}

export interface ToolContext {
  /** The workspace; a tool reads and writes nothing outside it. */
  readonly root: string;
  readonly signal: AbortSignal;
  /** The same for a repeated attempt at the same call: run id and step key. */
  readonly idempotencyKey: string;
}

interface Definition<Schema extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
  readonly readOnly: boolean;
  run(input: z.infer<Schema>, context: ToolContext): Promise<Json>;
}

/** Ties a tool's schema to the type of its arguments. */
export function defineTool<Schema extends z.ZodType>(definition: Definition<Schema>): Tool {
  const { name, description, parameters, readOnly } = definition;
  const schema = z.toJSONSchema(parameters, { io: "input" }) as JsonObject;
  const { $schema: _, ...rest } = schema;
  return {
    spec: { type: "function", name, description, parameters: rest, strict: false },
    readOnly,
    parse: (input) => parseArguments(name, parameters, input),
    run: (input, context) => definition.run(input as z.infer<Schema>, context),
  };
}

function parseArguments(name: string, parameters: z.ZodType, input: Json): unknown {
  const parsed = parameters.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.join(".") || "arguments"}: ${message}`,
  );
  throw new Failure(
    "invalid_request",
    `The arguments of \`${name}\` do not fit: ${problems.join("; ")}.`,
  );
}
