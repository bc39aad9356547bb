/**
 * A run that continues after its process was killed. In a clone: `node scripts/compile.js`, then `node
 * build/examples/resume.js begin record.db`. Kill that process when it says so (`kill -9 PID`), then `node
 * build/examples/resume.js resume record.db`.
 */

import { fileURLToPath } from "node:url";
import { createRuntime, defineTool } from "offshoot";

/** The first process waits here until it is killed. The second one gets an answer at once. */
function createReport(isReady: boolean) {
  return defineTool({
    name: "fetch_report",
    description: "Fetches the report.",
    parameters: { type: "object", properties: {} },
    readOnly: true,
    async run(_, { signal }) {
      if (isReady) return "All is well.";
      console.log(`The tool is waiting. Kill the process ${process.pid}.`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw signal.reason;
    },
  });
}

/** Starts a run in a record on disk. It never ends by itself. */
export async function begin(storePath: string): Promise<void> {
  const runtime = await createRuntime({ storePath, tools: [createReport(false)] });
  const run = await runtime.run({
    model: "embedded/offline",
    input: "use the fetch_report tool",
    tools: ["fetch_report"],
  });
  await run.result();
}

/** Continues every run of the record that no process works on. Finished model and tool calls are not made again. */
export async function resumeAll(storePath: string): Promise<readonly string[]> {
  const runtime = await createRuntime({ storePath, tools: [createReport(true)] });
  try {
    const left = await runtime.unfinished();
    const runs = await Promise.all(left.map(({ id }) => runtime.resume(id)));
    return await Promise.all(runs.map(async (run) => (await run.result()).output_text));
  } finally {
    await runtime.close();
  }
}

const [, program, action = "", storePath = "record.db"] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  if (action === "begin") await begin(storePath);
  else if (action !== "resume") console.error("Usage: resume.js begin|resume [record.db]");
  else for (const answer of await resumeAll(storePath)) console.log(answer);
}
