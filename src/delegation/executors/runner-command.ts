/** The command that starts a runner: the package's own program, wherever this code is installed. */

import { findOwnProgram } from "../../base/own-program.ts";

export function findRunnerCommand(): readonly [string, ...string[]] {
  return [process.execPath, findOwnProgram("cli"), "subagent"];
}
