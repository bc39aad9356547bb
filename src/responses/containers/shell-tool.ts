/**
 * What a hosted `shell` runs on: commands in a folder that holds a container's files and nothing else of
 * the machine's. The run's own sandbox shows the server's workspace, so it has one of its own.
 */

import { Failure } from "../../base/failure.ts";
import { defineBuiltin, integer, texts } from "../../tools/builtin-tool.ts";
import type { SandboxLevel } from "../../tools/sandbox/sandbox.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { ChosenContainer } from "./auto-container.ts";

export interface ShellParts extends ShelfParts {
  /** `sandbox`, unless whoever runs the server trusts everybody who may ask it. */
  readonly level: SandboxLevel;
  /** The variables of this process, of which commands get an allow-list. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const MAX_MS = 300_000;
/** To put the files in place and to keep what was written. */
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
