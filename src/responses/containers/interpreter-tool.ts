/**
 * What `code_interpreter` runs on: Python in Pyodide, as `python_execute` has it, over a container's
 * files. Variables last for the run, files for the container.
 */

import { Failure } from "../../base/failure.ts";
import { defineBuiltin, text } from "../../tools/builtin-tool.ts";
import type { PythonOptions } from "../../tools/python/python-execute.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { ChosenContainer } from "./auto-container.ts";
import { FILES_FOLDER } from "./container-files.ts";

/** Of Python's settings those that hold for it in a container too. */
export type InterpreterSettings = Pick<
  PythonOptions,
  "wheels" | "index" | "fetchPackage" | "snapshots" | "nodePath" | "workerPath"
>;

export interface InterpreterParts extends ShelfParts {
  readonly settings: InterpreterSettings;
}

const CODE_LIMIT_MS = 120_000;
/** To start the interpreter, read packages and keep what was written. */
const AROUND_MS = 180_000;

export function createInterpreterTool(parts: InterpreterParts, container: ChosenContainer): Tool {
  return defineBuiltin({
    name: "code_interpreter",
    description: `Runs Python in a container and gives back what it printed and the value of a last expression. Variables and imports last until the end of this answer. Files are in ${FILES_FOLDER}, which is the working folder; files written there are kept, images are shown. To give the user a file, link to it: [name](sandbox:${FILES_FOLDER}/name). It reaches no network.`,
    parameters: { code: text("Python code.") },
    readOnly: false,
    effect: "compute",
    timeoutMs: CODE_LIMIT_MS + AROUND_MS,
    async run({ code }, context) {
      if (code.trim() === "") throw new Failure("invalid_request", "There is no code to run.");
      const { runCode } = await import("./run-code.ts");
      const call = { code, timeoutMs: CODE_LIMIT_MS };
      return await runCode(parts, container, call, context);
    },
  });
}
