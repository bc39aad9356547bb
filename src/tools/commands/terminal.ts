/** `terminal`: runs one command in a folder of the workspace, and returns its two streams separately. */

import { join } from "node:path";
import { defineBuiltin, optionalText } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";
import { CALL_LIMIT_MS, COMMAND_FIELDS, TIMEOUT_FIELD, toNote, toWords } from "./command-call.ts";

const MAX_STDOUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 256 * 1024;

export const terminalTool: Tool = defineBuiltin({
  name: "terminal",
  description:
    "Run a command and return its standard output and standard error. Give either `command`, a line for sh, or `argv`, the words of a program that needs no shell.",
  parameters: {
    ...COMMAND_FIELDS,
    cwd: optionalText("The folder to run it in, relative to the working directory."),
    timeout: TIMEOUT_FIELD,
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
    const { runCommand } = await import("../sandbox/run-command.ts");
    const options = {
      timeoutMs: timeout * 1000,
      maxStdoutBytes: MAX_STDOUT_BYTES,
      maxStderrBytes: MAX_STDERR_BYTES,
      signal,
    };
    const ran = await workspace.within(cwd ?? ".", (folder) => {
      // The name of its held folder does not exist in the sandbox, where a link leads nowhere outside.
      const isSeen = sandbox.level !== "sandbox";
      const place = isSeen ? folder.cwd : join(workspace.root, folder.relative);
      return runCommand(sandbox, { argv: words, cwd: place }, options);
    });
    return {
      stdout: ran.stdout,
      stderr: ran.stderr,
      exit_code: ran.exitCode,
      timed_out: ran.timedOut,
      ...toNote(ran, timeout),
    };
  },
});
