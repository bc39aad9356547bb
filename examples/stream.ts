/**
 * Prints an answer while it arrives. In a clone: `node scripts/compile.js`, then `node
 * build/examples/stream.js "Hello"`.
 */

import { fileURLToPath } from "node:url";
import { createRuntime } from "offshoot";

/** Yields the text piece by piece. The ending says whether it is complete. */
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
