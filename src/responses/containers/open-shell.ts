/** A request's hosted shell: its container, and commands in it. */

import { Failure } from "../../base/failure.ts";
import type { ShellTool } from "../../protocol/tools.ts";
import type { OpenedShell } from "../kinds/shell.ts";
import type { KindRequest } from "../kinds/tool-kind.ts";
import { chooseContainer } from "./auto-container.ts";
import { createShellTool, type ShellParts } from "./shell-tool.ts";

export type OpenShell = (tool: ShellTool, request: KindRequest) => Promise<OpenedShell>;

/** What it gives rejects with `invalid_request` where the machine cannot hold commands as it is to. */
export function createOpenShell(parts: ShellParts): OpenShell {
  // What the machine can do does not change while the server runs.
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
