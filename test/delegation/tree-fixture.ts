/** A whole runtime over a scripted server, for the tests of trees of runs. */

import type { TestContext } from "node:test";
import type { SubagentEvent } from "../../src/delegation/subagent-events.ts";
import type { RunEnd, RunEvent } from "../../src/protocol/run-events.ts";
import {
  createRuntime,
  type RunRequest,
  type Runtime,
  type RuntimeOptions,
} from "../../src/runtime/runtime.ts";
import {
  type Script,
  type ScriptEngine,
  startChatUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";

export interface Tree {
  readonly runtime: Runtime;
  readonly upstream: Upstream;
  readonly root: string;
  /** The observed events of subagents, in order. */
  readonly observed: readonly SubagentEvent[];
  /** Runs it to its end. */
  run(request?: Partial<RunRequest>): Promise<TreeRun>;
  /** The log of any run of the tree. */
  eventsOf(id: string): Promise<RunEvent[]>;
}

export interface TreeRun {
  readonly id: string;
  readonly end: RunEnd;
  readonly events: readonly RunEvent[];
}

interface Setup extends RuntimeOptions {
  readonly files?: Readonly<Record<string, string>>;
}

export async function startTree(
  t: TestContext,
  engine: ScriptEngine | Script,
  { files = {}, ...options }: Setup = {},
): Promise<Tree> {
  const folder = createWorkspaceFolder(files);
  const upstream = await startChatUpstream({ engine });
  const observed: SubagentEvent[] = [];
  const runtime = await createRuntime({
    env: { PATH: process.env["PATH"] },
    observe: (event) => observed.push(event),
    ...options,
  });
  t.after(async () => {
    await runtime.close();
    await upstream.close();
    folder[Symbol.dispose]();
  });
  const eventsOf = async (id: string): Promise<RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const batch of runtime.engine.follow(id, -1)) {
      events.push(...batch.map(({ event }) => event));
    }
    return events;
  };
  return {
    runtime,
    upstream,
    observed,
    eventsOf,
    root: folder.root,
    async run(request = {}) {
      const run = await runtime.run({
        model: "custom/test",
        provider: "openai-chat",
        url: upstream.url,
        input: "go",
        tools: ["read", "subagent"],
        root: folder.root,
        ...request,
      });
      const end = await run.result();
      return { id: run.id, end, events: await eventsOf(run.id) };
    },
  };
}
