/**
 * A model of your own in place of a vendor: anything that yields events is one. In a clone: `node scripts/compile.js`,
 * then `node build/examples/custom-provider.js`. In a program of yours, import from "offshoot".
 */

import { fileURLToPath } from "node:url";
import { createRuntime } from "../src/index.ts";
import { createScriptedProvider, reply } from "../src/testing/index.ts";

/** `provider` answers every run of the runtime; here it is one that a test would use. */
export async function askOwnModel(input: string): Promise<string> {
  const provider = createScriptedProvider(reply.text(`You said: ${input}`));
  const runtime = await createRuntime({ provider });
  try {
    const run = await runtime.run({ model: "custom/mine", input });
    return (await run.result()).output_text;
  } finally {
    await runtime.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await askOwnModel("Hello"));
