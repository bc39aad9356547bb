/** The settings for a command: loaded, with what was not obeyed said on standard error. */

import { type AgentLayer, type Config, loadConfig } from "../runtime/config/config.ts";
import type { Options } from "./command.ts";
import type { Io } from "./io.ts";
import { toWarningLine } from "./terminal.ts";

/** `agent` is what the file of the agent says that the command runs. */
export async function openConfig(flags: Options, io: Io, agent?: AgentLayer): Promise<Config> {
  const config = await loadConfig({ env: io.env, home: io.home, cwd: io.cwd, flags, agent });
  for (const warning of config.warnings) await io.stderr.write(toWarningLine(warning));
  return config;
}
