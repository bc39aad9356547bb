/** What starts a runner: the package's own command, wherever this code is. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Failure } from "../../base/failure.ts";

/** Beside us in the bundled command; else in the library, or as it was compiled. */
const PLACES = ["./cli.js", "../../bin/cli.js", "../../cli/bin.js"];

export function findRunnerCommand(): readonly [string, ...string[]] {
  const files = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((path) => existsSync(path));
  if (file !== undefined) return [process.execPath, file, "subagent"];
  throw new Failure("internal", `The command is not at ${files.join(" or ")}.`);
}
