/** What starts a runner: the package's own command, wherever this code is. */

import { findOwnProgram } from "../../base/own-program.ts";

export function findRunnerCommand(): readonly [string, ...string[]] {
  return [process.execPath, findOwnProgram("cli"), "subagent"];
}
