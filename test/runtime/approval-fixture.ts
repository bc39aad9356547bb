/** Runs that ask, a terminal to answer on, and another process over the same record. */

import { join } from "node:path";
import type { TestContext } from "node:test";
import { createLocalEngine } from "../../src/engine/local-engine.ts";
import type { RunEvent, ToolDecision } from "../../src/protocol/run-events.ts";
import type { ToolQuestion } from "../../src/protocol/tool-question.ts";
import type { Provider } from "../../src/providers/provider.ts";
import type { answerQuestion } from "../../src/runtime/approvals.ts";
import {
  createRuntime,
  type Run,
  type Runtime,
  type RuntimeOptions,
} from "../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createScriptedProvider, reply } from "../../src/testing/index.ts";
import type { Answer, Ask, Denial, Question } from "../../src/tools/gate/ask.ts";
import { until } from "../patience.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";

export const WRITE = { name: "write", arguments: '{"path":"a.txt","content":"a"}' };
const START = { model: "test/model", input: "Write it", tools: ["write"] };

/** A model that makes the calls, and says `Done.` once it has a result. */
export function calling(...calls: { name: string; arguments: string }[]): Provider {
  return {
    name: "calling",
    async *stream(request, call) {
      const isBack = request.items.some(({ type }) => type === "function_call_output");
      const said = isBack ? reply.text("Done.") : reply.calls(calls);
      yield* createScriptedProvider(said).stream(request, call);
    },
  };
}

export interface Bench {
  readonly root: string;
  readonly storePath: string;
  open(options?: RuntimeOptions): Promise<Runtime>;
  start(runtime: Runtime, request?: Partial<Parameters<Runtime["run"]>[0]>): Promise<Run>;
}

export function createBench(t: TestContext): Bench {
  const folder = createWorkspaceFolder();
  const record = createWorkspaceFolder();
  const { root } = folder;
  const storePath = join(record.root, "runs.db");
  t.after(() => {
    folder[Symbol.dispose]();
    record[Symbol.dispose]();
  });
  return {
    root,
    storePath,
    async open(options = {}) {
      const provider = calling(WRITE);
      const runtime = await createRuntime({ env: {}, provider, storePath, ...options });
      t.after(() => runtime.close());
      return runtime;
    },
    start: (runtime, request = {}) => runtime.run({ ...START, root, ...request }),
  };
}

/** A terminal that shows questions and answers on command. */
export function createTerminal() {
  const questions: Question[] = [];
  const withdrawn: string[] = [];
  let answer: (given: Answer | Denial) => void = () => {};
  const ask: Ask = (question, signal) => {
    questions.push(question);
    return new Promise((resolve, reject) => {
      answer = resolve;
      signal.addEventListener("abort", () => {
        withdrawn.push(signal.reason.message);
        reject(signal.reason);
      });
    });
  };
  return { ask, questions, withdrawn, answer: (given: Answer | Denial) => answer(given) };
}

export async function readLog(run: Pick<Run, "follow">): Promise<RunEvent[]> {
  const log: RunEvent[] = [];
  for await (const batch of run.follow()) log.push(...batch.map(({ event }) => event));
  return log;
}

export const questionsIn = (log: readonly RunEvent[]): ToolQuestion[] =>
  log.filter((event) => event.type === "tool_question");
export const decisionsIn = (log: readonly RunEvent[]): ToolDecision[] =>
  log.filter((event) => event.type === "tool_decision");

export async function untilAsked(run: Pick<Run, "questions">, count = 1): Promise<void> {
  await until(async () => ((await run.questions()).length === count ? true : undefined), "asked");
}

/** Another process: its own store and engine over the same file. */
export async function elsewhere<Out>(
  { storePath }: Bench,
  work: (parts: Parameters<typeof answerQuestion>[0]) => Promise<Out>,
): Promise<Out> {
  const store = await openSqliteStore(storePath);
  const engine = createLocalEngine({ store });
  try {
    return await work({ engine });
  } finally {
    await engine.stop();
  }
}

/** The engine as other parts get it, for a test that changes one of its calls. */
export function bindEngine(
  engine: Parameters<typeof answerQuestion>[0]["engine"],
): Parameters<typeof answerQuestion>[0]["engine"] {
  return {
    record: engine.record,
    signal: engine.signal.bind(engine),
    status: engine.status.bind(engine),
    follow: engine.follow.bind(engine),
    isHeld: engine.isHeld.bind(engine),
  };
}
