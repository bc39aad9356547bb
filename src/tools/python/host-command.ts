/** How the machine's own Python is started: in the run's sandbox, with a folder that is its own. */

import { rm } from "node:fs/promises";
import { makeOwnFolder } from "../sandbox/own-folder.ts";
import type { Command } from "../sandbox/sandbox.ts";
import { DRIVER } from "./driver.ts";
import { HOST_START } from "./driver-starts.ts";

export interface HostFolder {
  readonly path: string;
  close(): Promise<void>;
}

/** Whoever opens it closes it, when no interpreter works in it any more. */
export async function openHostFolder(): Promise<HostFolder> {
  const path = await makeOwnFolder("python");
  return { path, close: () => rm(path, { recursive: true, force: true }) };
}

export function hostCommand(python: string, folder: string): Command {
  return {
    argv: [python, "-B", "-c", DRIVER + HOST_START],
    cwd: folder,
    env: { PYTHONIOENCODING: "utf-8" },
    writes: [folder],
  };
}
