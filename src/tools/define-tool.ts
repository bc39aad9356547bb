/** Your own tools: a zod schema ties what the model is told to the type of what the tool gets. */

import { z } from "zod";
import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Tool, ToolContext } from "./tool.ts";

interface Definition<Schema extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
  /** Whether it changes nothing, and so may run beside others. */
  readonly readOnly: boolean;
  /** Throw a `Failure`, or anything, to tell the model what was wrong. */
  run(input: z.infer<Schema>, context: ToolContext): Promise<Json>;
}

export function defineTool<Schema extends z.ZodType>(definition: Definition<Schema>): Tool {
  const { name, description, parameters, readOnly } = definition;
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" }) as JsonObject;
  return {
    spec: { type: "function", name, description, parameters: schema, strict: false },
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
  const message = `The arguments of \`${name}\` do not fit: ${problems.join("; ")}.`;
  throw new Failure("invalid_request", message);
}
