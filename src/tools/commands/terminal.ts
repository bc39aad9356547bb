/** `terminal`: runs one command, in a folder of the workspace, and gives its two streams apart. */

import { stat } from "node:fs/promises";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { defineBuiltin, integer, optionalText, texts } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { CALL_LIMIT_MS, DEFAULT_SECONDS, MAX_SECONDS, toNote, toWords } from "./command-call.ts";

const MAX_STDOUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 256 * 1024;

export const terminalTool: Tool = defineBuiltin({
  name: "terminal",
  description:
    "Run a command and return its standard output and standard error. Give either `command`, a line for sh, or `argv`, the words of a program that needs no shell.",
  parameters: {
    command: optionalText("A line for sh."),
    argv: texts("The program and its arguments, taken as they are."),
    cwd: optionalText("The folder to run it in, relative to the working directory."),
    timeout: integer("Seconds after which it is stopped, with everything it started.", {
      minimum: 1,
      maximum: MAX_SECONDS,
      default: DEFAULT_SECONDS,
    }),
  },
  readOnly: false,
  effect: "execute",
  timeoutMs: CALL_LIMIT_MS,
  targets: ({ command, argv, cwd }) => ({
    command: argv ? { argv } : { shell: command ?? "" },
    reads: cwd === undefined ? [] : [cwd],
  }),
  async run({ command, argv, cwd, timeout }, { sandbox, workspace, signal }) {
    const words = toWords(command, argv);
    const folder = await toFolder(workspace, cwd);
    const { runCommand } = await import("../sandbox/run-command.ts");
    const ran = await runCommand(
      sandbox,
      { argv: words, cwd: folder },
      {
        timeoutMs: timeout * 1000,
        maxStdoutBytes: MAX_STDOUT_BYTES,
        maxStderrBytes: MAX_STDERR_BYTES,
        signal,
      },
    );
    return {
      stdout: ran.stdout,
      stderr: ran.stderr,
      exit_code: ran.exitCode,
      timed_out: ran.timedOut,
      ...toNote(ran, timeout),
    };
  },
});

async function toFolder(workspace: Workspace, cwd: string | undefined): Promise<string> {
  if (cwd === undefined) return workspace.root;
  const { path, exists } = await workspace.locate(cwd, "read");
  if (exists && (await stat(path)).isDirectory()) return path;
  throw new Failure("not_found", `There is no folder \`${clip(cwd, 80)}\`.`);
}
