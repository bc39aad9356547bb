/**
 * An answer that fits a JSON schema, or an ending that says why there is none. In a clone: `node scripts/compile.js`,
 * then `node build/examples/structured-output.js`.
 */

import { fileURLToPath } from "node:url";
import { createRuntime, type RunRequest } from "offshoot";
import { reply, script, startChatUpstream } from "offshoot/testing";

interface City {
  readonly city: string;
  readonly country: string;
}

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, country: { type: "string" } },
  required: ["city", "country"],
  additionalProperties: false,
};

/**
 * The document was checked against the schema. A model whose answer does not fit is asked again, at most
 * twice.
 */
export async function findCity(
  input: string,
  model: Pick<RunRequest, "model" | "url">,
): Promise<City> {
  const runtime = await createRuntime();
  try {
    const run = await runtime.run({ ...model, input, output_schema: SCHEMA });
    const { ending, message, output_json } = await run.result();
    if (ending !== "completed") throw new Error(`${ending}: ${message}`);
    return output_json as unknown as City;
  } finally {
    await runtime.close();
  }
}

/** A scripted server stands in for a real model. Its first answer does not fit. */
export async function findScriptedCity(): Promise<City> {
  const answers = [
    reply.text('{"city":"Paris"}'),
    reply.text('{"city":"Paris","country":"France"}'),
  ];
  const upstream = await startChatUpstream({ engine: script(...answers) });
  try {
    return await findCity("Where is the Eiffel Tower?", { model: "custom/any", url: upstream.url });
  } finally {
    await upstream.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await findScriptedCity());
