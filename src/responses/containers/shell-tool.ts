/**
 * The tool of a hosted `shell`: commands in a folder that has a container's files and nothing else of the machine.
 * The run's own sandbox shows the server's workspace, so this tool has one of its own.
 */

import { Failure } from "../../base/failure.ts";
import { defineBuiltin, integer, texts } from "../../tools/builtin-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ChosenContainer } from "./auto-container.ts";
import type { ShellParts } from "./run-shell.ts";

const MAX_MS = 300_000;
/** Time to copy files in and to store files. */
const AROUND_MS = 60_000;
const MAX_COMMANDS = 20;

export function createShellTool(parts: ShellParts, container: ChosenContainer): Tool {
  return defineBuiltin({
    name: "shell",
    description:
      "Runs shell commands in a container, one after the other, each with sh in the working folder, where the container's files are. Files written there are kept. There is no network.",
    parameters: {
      commands: texts("The commands."),
      timeout_ms: integer("Milliseconds after which a command is stopped.", {
        minimum: 1,
        maximum: MAX_MS,
        default: 60_000,
      }),
      max_output_length: integer("How many characters of each stream are shown.", {
        minimum: 1,
        maximum: 200_000,
        default: 50_000,
      }),
    },
    readOnly: false,
    effect: "execute",
    timeoutMs: MAX_MS + AROUND_MS,
    targets: ({ commands = [] }) => ({ command: { shell: commands.join("\n") } }),
    async run({ commands = [], timeout_ms, max_output_length }, context) {
      if (commands.length === 0 || commands.length > MAX_COMMANDS) {
        throw new Failure("invalid_request", `Give 1 to ${MAX_COMMANDS} commands.`);
      }
      const { runShell } = await import("./run-shell.ts");
      const call = { commands, timeoutMs: timeout_ms, maxChars: max_output_length };
      return await runShell(parts, container, call, context);
    },
  });
}
