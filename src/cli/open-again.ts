/**
 * Opens a runtime for a run of the record: with the flags of its own command line, over the present settings.
 */

import { isTask, parseTask } from "../agent/task.ts";
import { loadAgents } from "../delegation/agents/load-agents.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { Config } from "../runtime/config/config.ts";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import { parseGivenRules, toRuntimeOptions } from "../runtime/settings.ts";
import type { Ask } from "../tools/gate/ask.ts";
import type { Io } from "./io.ts";
import { toPlaces } from "./open-agents.ts";
import { withSkills } from "./open-skills.ts";
import { toWarningLine } from "./terminal.ts";

/** The agents are those of the folder that the run works in. */
export async function openAgain(
  { input }: Pick<RunRecord, "input">,
  config: Config,
  io: Io & { readonly ask?: Ask | undefined },
): Promise<Runtime> {
  const settings = toRuntimeOptions(config, io);
  // An invalid task is refused by the code that runs it, with its own message.
  if (!isTask(input)) return await createRuntime(settings);
  const task = parseTask(input);
  const { agents, warnings } = await loadAgents(await toPlaces({ ...io, cwd: task.root }));
  for (const warning of warnings) await io.stderr.write(toWarningLine(warning));
  const rules = [...(settings.rules ?? []), ...parseGivenRules(task.rules)];
  const toolSettings = await withSkills(settings.toolSettings, task.tools, {
    ...io,
    cwd: task.root,
  });
  return await createRuntime({ ...settings, toolSettings, rules, agents });
}
