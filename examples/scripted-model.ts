/**
 * A test of your own agent against a model server that says what you tell it to, and fails once. In a
 * clone: `node scripts/compile.js`, then `node build/examples/scripted-model.js`. In a program of yours,
 * import from "offshoot" and "offshoot/testing".
 */

import { fileURLToPath } from "node:url";
import { createRuntime } from "../src/index.ts";
import { reply, script, serverError, startChatUpstream } from "../src/testing/index.ts";

/** The answer comes although the first request is met with a 500. */
export async function askScriptedModel(): Promise<string> {
  const engine = script(reply.text("Hello from the script."));
  const upstream = await startChatUpstream({ engine, faults: serverError({ times: 1 }) });
  const runtime = await createRuntime();
  try {
    const run = await runtime.run({ model: "custom/any", url: upstream.url, input: "Hello" });
    return (await run.result()).output_text;
  } finally {
    await runtime.close();
    await upstream.close();
  }
}

// Started as a program, and not imported by a test.
if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await askScriptedModel());
