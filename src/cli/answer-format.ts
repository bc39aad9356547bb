/** The form that an answer of `offshoot run` must have, from flags, the agent's file and the settings. */

import { toOutputFormat } from "../agent/output-mode.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { AgentDefinition } from "../delegation/agents/definition.ts";
import type { OutputFormat } from "../providers/provider.ts";
import type { Config } from "../runtime/config/config.ts";
import { withOrigin } from "../runtime/config/setting-origin.ts";
import type { Options } from "./command.ts";
import { readSchema } from "./read-schema.ts";

export interface FormatSources {
  readonly config: Config;
  readonly agent: AgentDefinition | undefined;
  readonly cwd: string;
}

/** The format of the flags; else that of the agent's file, else that of the settings. */
export async function readFormat(
  options: Options,
  { config, agent, cwd }: FormatSources,
): Promise<OutputFormat> {
  const file = options["schema"];
  if (options["json-object"] && file !== undefined) {
    throw new Failure("invalid_request", "Give either --schema or --json-object, not both.");
  }
  if (options["json-object"]) return { type: "json_object" };
  if (typeof file === "string") {
    return toOutputFormat({ output_schema: await readSchema(file, cwd) });
  }
  if (agent?.outputSchema ?? agent?.outputMode) {
    const { outputMode: output_mode, outputSchema: output_schema } = agent;
    return toOutputFormat({ output_mode, output_schema });
  }
  const mode = config.get("output_mode");
  if (mode === "text") return { type: "text" };
  const path = config.get("output_schema");
  const read = (): Promise<JsonObject | null> =>
    path === undefined ? Promise.resolve(null) : readSchema(path, cwd);
  const output_schema = await withOrigin(config, "output_schema", read);
  return toOutputFormat({ output_mode: mode, output_schema });
}
