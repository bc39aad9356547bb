/** Opens a request's code interpreter: its container, and Python in it. */

import { Failure } from "../../base/failure.ts";
import type { CodeInterpreterTool } from "../../protocol/hosted-kinds/code-interpreter.ts";
import { defineBuiltin, text } from "../../tools/builtin-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import type { OpenedInterpreter } from "../kinds/code-interpreter.ts";
import type { KindRequest } from "../kinds/tool-kind.ts";
import type { ChosenContainer } from "./auto-container.ts";
import { chooseContainer } from "./auto-container.ts";
import { FILES_FOLDER } from "./container-files.ts";
import type { InterpreterParts } from "./interpreter-session.ts";

export async function openInterpreter(
  parts: InterpreterParts,
  { container }: CodeInterpreterTool,
  request: KindRequest,
): Promise<OpenedInterpreter> {
  const wish =
    typeof container === "string"
      ? { id: container }
      : { fileIds: container?.file_ids, memoryLimit: container?.memory_limit };
  const chosen = await chooseContainer(parts, request, wish);
  return { containerId: chosen.containerId, tool: createInterpreterTool(parts, chosen) };
}

/**
 * The tool of `code_interpreter`: Python in Pyodide, as for `python_execute`, over a container's files. Variables
 * last for the run, files for the container.
 */
const CODE_LIMIT_MS = 120_000;
/** Time to start the interpreter, read packages and store files. */
const AROUND_MS = 180_000;

function createInterpreterTool(parts: InterpreterParts, container: ChosenContainer): Tool {
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
