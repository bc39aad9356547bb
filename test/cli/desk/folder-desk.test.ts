/** The desk of `offshoot mcp serve`: which runs of the user's record belong to its folder. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { createFolderDesk } from "../../../src/cli/desk/folder-desk.ts";
import type { OpenedDesk } from "../../../src/cli/desk/open-desk.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { createSandbox } from "../../runtime/sandbox.ts";

it("lists the newest runs of its folder, however many runs of other folders are newer", async (t) => {
  const [here, elsewhere] = [createSandbox(t).cwd, createSandbox(t).cwd];
  const runtime = await createRuntime({ env: {} });
  t.after(() => runtime.close());
  const runIn = async (root: string, session = "new"): Promise<string> => {
    const asked = { input: "compute 6*7", model: "embedded/offline", tools: [], root, session };
    const run = await runtime.run(asked);
    await run.result();
    return run.id;
  };
  const first = await runIn(here);
  const second = await runIn(here);
  const third = await runIn(here, first);
  for (let count = 0; count < 20; count++) await runIn(elsewhere);
  const desk = createFolderDesk({
    desk: { runtime, agents: [] } as unknown as OpenedDesk,
    folder: here,
    prompts: { list: async () => [], fill: async () => "" },
    named: [],
  });
  const listed = async (limit: number): Promise<string[]> =>
    (await desk.list(limit)).map(({ id }) => id);
  assert.deepEqual(await listed(2), [third, second]);
  assert.deepEqual(await listed(50), [third, second, first]);
});
