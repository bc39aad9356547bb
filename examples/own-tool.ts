/** A tool of your own, given to a run. `node build/examples/own-tool.js` after `npm test`. */

import { z } from "zod";
import { createRuntime, defineTool } from "../src/index.ts";

const weather = defineTool({
  name: "weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  readOnly: true,
  run: async ({ city }) => `${city}: 7 °C, rain`,
});

/** Asks the embedded model, which calls the tool it is told to. */
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
