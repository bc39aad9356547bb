/** `shell`: runs one command and returns its output, both streams together. */

import { defineBuiltin } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";
import { CALL_LIMIT_MS, COMMAND_FIELDS, TIMEOUT_FIELD, toNote, toWords } from "./command-call.ts";

/** The most bytes of output that are kept; the rest is read and dropped. */
const MAX_OUTPUT_BYTES = 512 * 1024;

export const shellTool: Tool = defineBuiltin({
  name: "shell",
  description:
    "Run a command in the working directory and return its output. Give either `command`, a line for sh, or `argv`, the words of a program that needs no shell.",
  parameters: {
    ...COMMAND_FIELDS,
    timeout: TIMEOUT_FIELD,
  },
  readOnly: false,
  effect: "execute",
  timeoutMs: CALL_LIMIT_MS,
  targets: ({ command, argv }) => ({ command: argv ? { argv } : { shell: command ?? "" } }),
  async run({ command, argv, timeout }, { sandbox, workspace, signal }) {
    const words = toWords(command, argv);
    const { runCommand } = await import("../sandbox/run-command.ts");
    const ran = await runCommand(
      sandbox,
      { argv: words, cwd: workspace.root },
      {
        timeoutMs: timeout * 1000,
        maxStdoutBytes: MAX_OUTPUT_BYTES,
        maxStderrBytes: MAX_OUTPUT_BYTES,
        joins: true,
        signal,
      },
    );
    return {
      exit_code: ran.exitCode,
      stdout: ran.stdout,
      ...toNote(ran, timeout),
      error: ran.timedOut ? `Timed out after ${timeout} s.` : null,
    };
  },
});
