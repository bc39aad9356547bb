/** A test of your own agent against a model server that says what you tell it to, and fails once. */

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
