/** Command lines as a reader of the docs types them: in a shell of a place, with the built `offshoot` on its path. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { patience } from "../patience.ts";
import { CLI, type Place } from "./command.ts";

export interface Typed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `env` comes on top of a path, a home and the wish not to look for servers of the tester's machine. */
export async function runShell(
  script: string,
  place: Pick<Place, "home" | "cwd">,
  env: Readonly<Record<string, string>> = {},
): Promise<Typed> {
  const programs = await putCommand(place.home);
  const shell = spawn("/bin/sh", ["-c", script], {
    cwd: place.cwd,
    env: {
      PATH: [programs, process.env["PATH"]].join(delimiter),
      HOME: place.home,
      OFFSHOOT_PROBE_LOCAL: "false",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    signal: patience(),
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    shell[name].setEncoding("utf8").on("data", (piece: string) => {
      said[name] += piece;
    });
  }
  const [code] = (await once(shell, "close")) as [number | null];
  return { code, ...said };
}

/** A program `offshoot`, as an installation would put it on the path; gives its folder. */
async function putCommand(home: string): Promise<string> {
  const folder = join(home, "bin");
  await mkdir(folder, { recursive: true });
  const program = join(folder, "offshoot");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`);
  await chmod(program, 0o755);
  return folder;
}
