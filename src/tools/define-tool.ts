/** Your own tools: a zod schema ties what the model is told to the type of what the tool gets. */

import { z } from "zod";
import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Effect, Targets, Tool, ToolContext, ToolOutput } from "./tool.ts";

interface Definition<Schema extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
  /** Whether it changes nothing, and so may run beside others. */
  readonly readOnly: boolean;
  /** What it does to the world. Left out, it is a function of your program, which nobody asks about. */
  readonly effect?: Effect;
  /** How long a call may take, in place of the runtime's own limit. */
  readonly timeoutMs?: number;
  /** The paths, hosts or command that a call names, so that grants and rules apply to them. */
  targets?(input: z.infer<Schema>): Targets;
  /** Throw a `Failure`, or anything, to tell the model what was wrong. */
  run(input: z.infer<Schema>, context: ToolContext): Promise<Json | ToolOutput>;
}

export function defineTool<Schema extends z.ZodType>(definition: Definition<Schema>): Tool {
  const { name, description, parameters, readOnly, effect = "own", timeoutMs } = definition;
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" }) as JsonObject;
  return {
    spec: { type: "function", name, description, parameters: schema, strict: false },
    readOnly,
    effect,
    timeoutMs,
    parse: (input) => parseArguments(name, parameters, input),
    targets: (input) => definition.targets?.(input as z.infer<Schema>) ?? {},
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
