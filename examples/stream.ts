/**
 * The answer as it comes. In a clone: `node scripts/compile.js`, then `node build/examples/stream.js "Hello"`.
 * In a program of yours, import from "offshoot".
 */

import { fileURLToPath } from "node:url";
import { createRuntime } from "../src/index.ts";

/** Yields the text piece by piece; the ending says whether it is complete. */
export async function* streamAnswer(
  input: string,
  model = "embedded/offline",
): AsyncGenerator<string> {
  const runtime = await createRuntime();
  try {
    const run = await runtime.run({ model, input });
    yield* run.text();
    const { ending, message } = await run.result();
    if (ending !== "completed") throw new Error(`${ending}: ${message}`);
  } finally {
    await runtime.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for await (const text of streamAnswer(process.argv[2] ?? "compute 6*7"))
    process.stdout.write(text);
  process.stdout.write("\n");
}
