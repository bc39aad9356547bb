/**
 * A run that goes on after its process died. In a clone: `node scripts/compile.js`, then
 * `node build/examples/resume.js begin record.db`, kill it, then `node build/examples/resume.js go-on record.db`.
 * In a program of yours, import from "offshoot".
 */

import { fileURLToPath } from "node:url";
import { createRuntime } from "../src/index.ts";

/** Starts a run in a record on disk and gives its id. Finished model and tool calls are never made again. */
export async function begin(storePath: string, input: string): Promise<string> {
  const runtime = await createRuntime({ storePath });
  const run = await runtime.run({ model: "embedded/offline", input, tools: ["read"] });
  await run.result();
  await runtime.close();
  return run.id;
}

/** Goes on with every run of the record that no process works on, and gives their endings. */
export async function goOn(storePath: string): Promise<readonly string[]> {
  const runtime = await createRuntime({ storePath });
  try {
    const left = await runtime.engine.record.listRuns({ limit: 100, status: "running", parent_id: null });
    const runs = await Promise.all(left.map(({ id }) => runtime.resume(id)));
    return await Promise.all(runs.map(async (run) => `${run.id}: ${(await run.result()).ending}`));
  } finally {
    await runtime.close();
  }
}

const [, program, action = "", storePath = "record.db"] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  console.log(action === "begin" ? await begin(storePath, "read package.json") : await goOn(storePath));
}
