/** Loads the settings for a command, and reports ignored ones on standard error. */

import { type AgentLayer, type Config, loadConfig } from "../runtime/config/config.ts";
import type { Options } from "./command.ts";
import type { Io } from "./io.ts";
import { toWarningLine } from "./terminal.ts";

/** `agent` has the settings from the file of the agent that the command runs. */
export async function openConfig(flags: Options, io: Io, agent?: AgentLayer): Promise<Config> {
  const config = await readConfig(flags, io, agent);
  for (const warning of config.warnings) await io.stderr.write(toWarningLine(warning));
  return config;
}

/** Writes warnings, a line each; none with `-q`. */
type Warn = (warnings: readonly string[]) => Promise<void>;

/** The settings of a run. Whatever it has to warn about goes through `warn`. */
export async function openRunConfig(
  flags: Options,
  io: Io,
  agent?: AgentLayer,
): Promise<{ readonly config: Config; readonly warn: Warn }> {
  const config = await readConfig(flags, io, agent);
  const warn: Warn = async (warnings) => {
    if (warnings.length === 0 || config.get("quiet")) return;
    for (const warning of warnings) await io.stderr.write(toWarningLine(warning));
  };
  await warn(config.warnings);
  return { config, warn };
}

function readConfig(flags: Options, { env, home, cwd }: Io, agent?: AgentLayer): Promise<Config> {
  return loadConfig({ env, home, cwd, flags, agent });
}
