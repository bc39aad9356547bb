/** Command lines of a reader of the docs: in a shell of a place, with the built `offshoot` on its path. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { patience } from "../patience.ts";
import { CLI, type Place } from "./command.ts";

export interface Typed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;
type Folders = Pick<Place, "home" | "cwd">;

/** `env` is added to a path, a home and the setting that no servers on the tester's machine are looked for. */
export async function runShell(
  script: string,
  folders: Folders,
  env: Environment = {},
): Promise<Typed> {
  const shell = await startShell(script, folders, env);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    shell[name].setEncoding("utf8").on("data", (piece: string) => {
      said[name] += piece;
    });
  }
  const [code] = (await once(shell, "close")) as [number | null];
  return { code, ...said };
}

/** The shell leads a process group of its own, so that all its children can be ended. */
export async function startShell(
  script: string,
  { home, cwd }: Folders,
  env: Environment = {},
): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  const programs = await putCommand(home);
  return spawn("/bin/sh", ["-c", script], {
    cwd,
    env: {
      HOME: home,
      OFFSHOOT_PROBE_LOCAL: "false",
      ...env,
      PATH: [programs, env["PATH"] ?? process.env["PATH"]].join(delimiter),
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    signal: patience(),
  });
}

/** A program `offshoot`, like an installation would put it on the path; returns its folder. */
async function putCommand(home: string): Promise<string> {
  const folder = join(home, "bin");
  await mkdir(folder, { recursive: true });
  const program = join(folder, "offshoot");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`);
  await chmod(program, 0o755);
  return folder;
}
