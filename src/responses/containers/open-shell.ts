/** Opens a request's hosted shell: its container, and commands in it. */

import { Failure } from "../../base/failure.ts";
import type { ShellTool } from "../../protocol/hosted-kinds/shell.ts";
import type { OpenedShell } from "../kinds/shell.ts";
import type { KindRequest } from "../kinds/tool-kind.ts";
import { chooseContainer } from "./auto-container.ts";
import type { ShellParts } from "./run-shell.ts";
import { createShellTool } from "./shell-tool.ts";

export type OpenShell = (tool: ShellTool, request: KindRequest) => Promise<OpenedShell>;

/**
 * The returned function rejects with `invalid_request` if the machine cannot isolate commands as required.
 */
export function createOpenShell(parts: ShellParts): OpenShell {
  // The abilities of the machine do not change while the server runs.
  let problem: Promise<string | undefined> | undefined;
  return async ({ environment }, request) => {
    if (parts.level === "sandbox") {
      problem ??= findProblem(parts.env);
      requireSandbox(await problem);
    }
    const wish =
      environment?.type === "container_reference"
        ? { id: environment.container_id ?? "" }
        : { fileIds: environment?.file_ids, memoryLimit: environment?.memory_limit };
    const chosen = await chooseContainer(parts, request, wish);
    return { containerId: chosen.containerId, tool: createShellTool(parts, chosen) };
  };
}

async function findProblem(env: ShellParts["env"]): Promise<string | undefined> {
  const { probeSandbox } = await import("../../tools/sandbox/probe-sandbox.ts");
  return (await probeSandbox(env)).problem;
}

function requireSandbox(problem: string | undefined): void {
  if (problem === undefined) return;
  const message = `This server runs no shell: it cannot hold its commands. ${problem}`;
  throw new Failure("invalid_request", message, { param: "tools" });
}
