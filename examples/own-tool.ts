/**
 * A tool of your own, given to a run. In a clone: `node scripts/compile.js`, then
 * `node build/examples/own-tool.js Oslo`.
 */

import { fileURLToPath } from "node:url";
import { createRuntime, defineTool } from "offshoot";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  readOnly: true,
  run: async ({ city }) => `${city}: 7 °C, rain`,
});

/** Asks the embedded model, which calls the tool that the prompt names. */
export async function askForWeather(city: string): Promise<string> {
  const runtime = await createRuntime({ tools: [weather] });
  try {
    const run = await runtime.run({
      model: "embedded/offline",
      input: `use the weather tool for "${city}"`,
      tools: ["weather"],
    });
    return (await run.result()).output_text;
  } finally {
    await runtime.close();
  }
}

// Started as a program, and not imported by a test.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await askForWeather(process.argv[2] ?? "Oslo"));
}
