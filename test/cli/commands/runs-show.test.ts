import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { main } from "../../../src/cli/main.ts";
import type { ChildWord } from "../../../src/protocol/child-news.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { reply, script, startChatUpstream } from "../../../src/testing/index.ts";
import { end, start } from "../../delegation/ledger-record.ts";
import { message, turn } from "../../responses/logged-run.ts";
import { createSandbox, type Sandbox } from "../../runtime/sandbox.ts";
import { newRun } from "../../store/store-contract.ts";
import { createFakeIo } from "../fake-io.ts";

async function runs(
  sandbox: Sandbox,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = createFakeIo(sandbox);
  return { code: await main(["runs", ...words], io), ...io.written };
}

async function record({ home }: Sandbox, write: (store: Store) => Promise<void>): Promise<void> {
  const path = join(home, ".local/share/offshoot/runs.db");
  mkdirSync(dirname(path), { recursive: true });
  const store = await openSqliteStore(path);
  await write(store);
  await store.close();
}

describe("what a run is doing", () => {
  const queued = newRun("run_queued", { name: "response", created_at_ms: 2 });
  const killed = newRun("run_killed", { name: "agent", created_at_ms: 1 });
  const open = async (t: TestContext): Promise<Sandbox> => {
    const sandbox = createSandbox(t);
    await record(sandbox, async (store) => {
      await store.createRun(killed);
      await store.claim("run_killed", "a worker that is gone");
      await store.createRun(queued);
    });
    return sandbox;
  };

  it("is shown by list, show and tree", async (t) => {
    const sandbox = await open(t);
    const { stdout } = await runs(sandbox, "list");
    assert.match(stdout, /^run_queued .* queued {7}.*\nrun_killed .* interrupted {2}/);
    const shown = await runs(sandbox, "show", "run_killed");
    assert.match(shown.stdout, /^ending {3}interrupted: `offshoot runs resume run_killed` /m);
    assert.match((await runs(sandbox, "show", "run_queued")).stdout, /^ending {3}queued$/m);
    assert.match((await runs(sandbox, "tree", "run_killed")).stdout, /^root: INTERRUPTED /m);
    assert.equal(
      JSON.parse((await runs(sandbox, "tree", "run_queued", "--json")).stdout).state,
      "queued",
    );
  });

  it("is shown with its prompt, and exported with its model named once", async (t) => {
    const sandbox = createSandbox(t);
    const io = createFakeIo({ ...sandbox, env: { OFFSHOOT_PROBE_LOCAL: "false" } });
    assert.equal(await main(["run", "-m", "embedded", "hello"], io), 0);
    const { id } = JSON.parse((await runs(sandbox, "list", "--json")).stdout)[0];
    const shown = await runs(sandbox, "show", id);
    assert.match(shown.stdout, /^prompt {3}hello$/m);
    const { stdout } = await runs(sandbox, "export", id);
    assert.match(stdout, /\n## Model\n\nembedded\/offline \(--model\)\n/);
    for (const [flags, why] of [
      [["--with", "model=x"], /`--with` changes the prompt alone: `prompt=TEXT`, not `model=x`/],
      [["--with", "prompt=x"], /`--with` needs `--from NODE` beside it/],
      [["--from", "a"], /`--from` needs `--with prompt=TEXT` beside it/],
    ] as const) {
      assert.match((await runs(sandbox, "replay", id, ...flags)).stderr, why);
    }
  });

  it("is shown with the tools that come with others", async (t) => {
    const sandbox = createSandbox(t);
    const io = createFakeIo({ ...sandbox, env: { OFFSHOOT_PROBE_LOCAL: "false" } });
    const asked = ["--tools", "read,subagent", "ask a subagent to say hello"];
    assert.equal(await main(["run", "-m", "embedded", ...asked], io), 0, io.written.stderr);
    const [{ id }] = JSON.parse((await runs(sandbox, "list", "--json")).stdout);
    const shown = await runs(sandbox, "show", id);
    assert.match(shown.stdout, /^tools {4}read, subagent, subagents$/m);
    const all = JSON.parse((await runs(sandbox, "list", "--all", "--json")).stdout);
    const child = all.find((run: { id: string }) => run.id !== id)?.id ?? assert.fail("no child");
    assert.match((await runs(sandbox, "show", child)).stdout, /^tools {4}.*, ask_parent$/m);
  });

  it("is shown with what its background subagents reported and asked", async (t) => {
    const sandbox = createSandbox(t);
    const news: ChildWord[] = [
      { child_id: "run_1/a-1.0", label: "part a", kind: "report", mark: "1", text: "All\ngood" },
      { child_id: "run_1/b-1.1", label: "part b", kind: "question", mark: "2", text: "Which one?" },
    ];
    await record(sandbox, async (store) => {
      await store.createRun(newRun("run_1", { name: "agent" }));
      const epoch = (await store.claim("run_1", "worker")) ?? 0;
      const told: RunEvent = { type: "child_news", turn: 1, news, at_ms: 2 };
      await store.append("run_1", epoch, 0, [start("run_1", 1), told]);
    });
    const { stdout } = await runs(sandbox, "show", "run_1");
    assert.match(stdout, /^ {2}report part a: All good\n {2}asked {2}part b: Which one\?$/m);
  });

  it("lets a run whose process died be cancelled, with its output and usage", async (t) => {
    const sandbox = createSandbox(t);
    const upstream = await startChatUpstream({ engine: script(reply.silence("I begin")) });
    t.after(() => upstream.close());
    const storePath = join(sandbox.home, ".local/share/offshoot/runs.db");
    const runtime = await createRuntime({ storePath });
    const { url } = upstream;
    const { id } = await runtime.run({
      model: "custom/m",
      provider: "openai-chat",
      url,
      input: "Hi",
    });
    await upstream.waitForRequest(1);
    await runtime.close();
    const { code, stderr } = await runs(sandbox, "cancel", id);
    assert.deepEqual([code, stderr], [0, `${id} has ended: cancelled\n`]);
    assert.equal(upstream.requests.length, 1);
  });

  it("lets a queued response be cancelled, and deleted only with --force", async (t) => {
    const sandbox = await open(t);
    const resumed = await runs(sandbox, "resume", "run_queued");
    const says = "is a server's response: start `offshoot serve` to continue it.";
    assert.equal(resumed.stderr, `offshoot: Run run_queued ${says}\n`);
    assert.match((await runs(sandbox, "delete", "run_queued")).stderr, /waits for its turn/);
    const cancelled = await runs(sandbox, "cancel", "run_queued");
    assert.equal(cancelled.stderr, "run_queued has ended: cancelled\n");
    assert.equal((await runs(sandbox, "delete", "run_queued")).code, 0);
  });
});

describe("offshoot runs replay", () => {
  const rows: readonly [what: string, id: string, says: RegExp][] = [
    ["a server's response", "run_resp", /is a server's response, which cannot be replayed/],
    ["a subagent", "run_1/a", /Replay the whole tree: offshoot runs replay run_1\n$/],
    ["a run that has not ended", "run_1", /Resume it first: offshoot runs resume run_1\n$/],
  ];
  for (const [what, id, says] of rows) {
    it(`refuses ${what} in one line`, async (t) => {
      const sandbox = createSandbox(t);
      await record(sandbox, async (store) => {
        await store.createRun(newRun("run_resp", { name: "response" }));
        await store.createRun(newRun("run_1", { name: "agent" }));
        await store.createRun(newRun("run_1/a", { name: "agent", parent_id: "run_1" }));
      });
      const { code, stdout, stderr } = await runs(sandbox, "replay", id);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, says);
      assert.equal(stderr.trimEnd().split("\n").length, 1);
    });
  }
});

describe("offshoot runs show", () => {
  it("has the beginning of an answer that was cancelled", async (t) => {
    const sandbox = createSandbox(t);
    const said = turn(1, ...message(0, "Half an answer")).slice(0, 2);
    const ended = end(9, { ending: "cancelled", message: "Cancelled.", output_text: "Half an" });
    await record(sandbox, async (store) => {
      await store.createRun(newRun("run_1"));
      await store.claim("run_1", "worker");
      await store.append("run_1", 1, 0, [start("run_1", 1), ...said, ended]);
    });
    const { stdout } = await runs(sandbox, "show", "run_1");
    assert.match(stdout, /^partial {2}Half an\nwhy {6}Cancelled\.$/m);
  });
});
