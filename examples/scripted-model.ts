/**
 * A test of your own agent against a scripted model server, which fails once. In a clone: `node
 * scripts/compile.js`, then `node build/examples/scripted-model.js`.
 */

import { fileURLToPath } from "node:url";
import { createRuntime } from "offshoot";
import { reply, script, serverError, startChatUpstream } from "offshoot/testing";

/** The answer arrives although the first request gets a 500. */
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
