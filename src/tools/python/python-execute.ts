/**
 * `python_execute`: runs Python and returns its output, the value of its last expression and its files. The
 * arguments are here; the code is loaded with the first call.
 */

import { Failure } from "../../base/failure.ts";
import { defineBuiltin, integer, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";
import { parseMem } from "./mem.ts";
import type { PythonOptions } from "./run-python.ts";

const MAX_SECONDS = 300;

/** A first call also starts the interpreter and may read packages. */
const START_MS = 90_000;

export function createPythonTool(options: PythonOptions): Tool {
  const { host, mounts, pythonPath = "python3" } = options;
  return defineBuiltin({
    name: "python_execute",
    description: describe(options),
    parameters: {
      code: text("Python code; the value of a last expression is the result."),
      mem: text('The most memory it may take: "64m" to "4g".', { default: "512m" }),
      timeout: integer("Seconds until the code is stopped, which ends the interpreter.", {
        minimum: 1,
        maximum: MAX_SECONDS,
        default: 30,
      }),
    },
    readOnly: false,
    effect: host ? "execute" : "compute",
    timeoutMs: MAX_SECONDS * 1000 + START_MS,
    targets: ({ code }) => ({
      reads: mounts,
      ...(host && { command: { argv: [pythonPath, "-c", code] } }),
    }),
    async run({ code, mem, timeout }, context) {
      if (code.trim() === "") throw new Failure("invalid_request", "No code provided");
      const call = { code, mem, memBytes: parseMem(mem), timeoutMs: timeout * 1000 };
      const { runPython } = await import("./run-python.ts");
      return runPython(options, call, context);
    },
  });
}

function describe({ host, mounts }: PythonOptions): string {
  const given = mounts.length > 0 ? ` Copies of ${mounts.join(", ")} are there.` : "";
  const reach = host ? "" : " It reaches neither the network nor files of the machine.";
  return `Runs Python. Variables, imports and files last until the end of the run. Files written to the working folder come back; images are shown.${reach}${given}`;
}
