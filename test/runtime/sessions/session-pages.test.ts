/** The list of sessions in pages: each session is in one of them, also if many were used at one moment. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { createManualClock } from "../../../src/testing/index.ts";
import { createSandbox } from "../sandbox.ts";

it("shows each session once, in pages, if all were used in the same millisecond", async (t) => {
  const [here, elsewhere] = [createSandbox(t).cwd, createSandbox(t).cwd];
  const clock = createManualClock(1_790_000_000_000);
  const runtime = await createRuntime({ env: {}, clock });
  t.after(() => runtime.close());
  const ask = async (session: string, root = here): Promise<string> => {
    const asked = { input: "compute 6*7", model: "embedded/offline", tools: [], root, session };
    const run = await runtime.run(asked);
    await run.result();
    return run.session ?? assert.fail("no session");
  };
  const made: string[] = [];
  for (let count = 0; count < 4; count++) made.push(await ask("new"));
  await clock.advance(1000);
  for (let count = 0; count < 3; count++) made.push(await ask("new"));
  // A fork has no run of its own before it is continued.
  made.push((await runtime.sessions.fork(made[2] ?? "", { folder: here })).id);
  await runtime.sessions.fork(made[2] ?? "", { folder: elsewhere });
  // Used again, and elsewhere: it is still one session of this folder.
  await ask(made[0] ?? "");
  await ask(made[1] ?? "", elsewhere);
  const listed: string[] = [];
  let after: string | undefined;
  do {
    const page = await runtime.sessions.listPage({ folder: here, limit: 2, after });
    assert.ok(page.sessions.length <= 2);
    listed.push(...page.sessions.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined && listed.length < 20);
  assert.equal(listed.length, 8);
  assert.deepEqual([...listed].sort(), [...made].sort());
  assert.ok(listed.slice(0, 5).includes(made[0] ?? ""));
  await assert.rejects(runtime.sessions.listPage({ after: "x" }), /not a cursor/);
});
