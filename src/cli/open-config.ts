/** The settings for a command: loaded, with what was not obeyed said on standard error. */

import { type Config, loadConfig } from "../runtime/config/config.ts";
import type { Options } from "./command.ts";
import type { Io } from "./io.ts";
import { toWarningLine } from "./terminal.ts";

export async function openConfig(flags: Options, io: Io): Promise<Config> {
  const config = await loadConfig({ env: io.env, home: io.home, cwd: io.cwd, flags });
  for (const warning of config.warnings) await io.stderr.write(toWarningLine(warning));
  return config;
}
