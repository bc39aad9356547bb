/** The hooks around a run: journaled, so that a takeover does not run them again. */

import type { AgentTask } from "../agent/task.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { RunContext, RunOutcome } from "../engine/engine.ts";
import type { HookDenial, Hooks } from "../tools/hooks/run-hooks.ts";

interface HookedRun {
  readonly context: RunContext;
  readonly task: AgentTask;
}

/** Rejects with `forbidden` if a hook denies the run. A run that is cancelled has no hook after it. */
export async function runWithHooks(
  hooks: Hooks | undefined,
  run: HookedRun,
  work: () => Promise<RunOutcome>,
): Promise<RunOutcome> {
  if (!hooks) return await work();
  const denial = await runHooks(hooks, "before_run", run, {});
  if (denial) {
    const { hook, reason } = denial;
    throw new Failure("forbidden", `The run was denied: hook ${hook} denied it: ${reason}.`);
  }
  try {
    const outcome = await work();
    const end = outcome.events.find(({ type }) => type === "run_end");
    const { ending } = outcome;
    const output_text = end?.type === "run_end" ? end.output_text : "";
    await runHooks(hooks, "after_run", run, { ending, output_text });
    return outcome;
  } catch (thrown) {
    const { message } = toFailure(thrown);
    if (!run.context.signal.aborted) {
      await runHooks(hooks, "after_run", run, { ending: "failed", output_text: "", message });
    }
    throw thrown;
  }
}

async function runHooks(
  hooks: Hooks,
  on: "before_run" | "after_run",
  { context, task }: HookedRun,
  more: JsonObject,
): Promise<HookDenial | null> {
  if (!hooks.has(on)) return null;
  const { id: run_id, parent_id, path } = context;
  const fields = { run_id, parent_id, path, model: task.model, depth: task.depth, ...more };
  const found = await context.step(`hook:${on}`, async ({ signal }) => {
    const tell = (message: string): Promise<unknown> =>
      context.emit([{ type: "notice", code: "hook", message }]);
    const denial = await hooks.run(on, fields, { signal, tell });
    return denial ? { ...denial } : null;
  });
  return found as HookDenial | null;
}
