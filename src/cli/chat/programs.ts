/** Programs that a person starts from a chat: an editor for the words, and commands. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { Io } from "../io.ts";

/**
 * Returns the text as the editor left it. Rejects if the editor could not be started or ended with an error: the old
 * text stays.
 */
export async function editElsewhere(
  text: string,
  { env, cwd }: Pick<Io, "env" | "cwd">,
): Promise<string> {
  const program = env["VISUAL"] || env["EDITOR"] || "vi";
  const folder = await mkdtemp(join(tmpdir(), "offshoot-"));
  const file = join(folder, "prompt.md");
  try {
    await writeFile(file, text, { mode: 0o600 });
    // A shell, because the variable may contain flags.
    const child = spawn("/bin/sh", ["-c", `${program} "$1"`, "sh", file], {
      cwd,
      stdio: "inherit",
      env,
    });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) {
      const message = `\`${program}\` ended with ${code ?? "a signal"}; your words are as they were.`;
      throw new Failure("invalid_request", message);
    }
    return (await readFile(file, "utf8")).replace(/\n$/, "");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The most characters that go with the next words. */
const MAX_KEPT = 20_000;

/** A command that does not stop when asked is killed after this time. */
const KILL_MS = 2000;

export interface ShellRun {
  /** The text that is sent with the next words. */
  readonly told: string;
  readonly code: number | null;
}

/**
 * Runs a command of the person in their shell. It has no terminal; its output is passed on line by line.
 */
export async function runShell(
  command: string,
  { env, cwd }: Pick<Io, "env" | "cwd">,
  { onText, signal }: { readonly onText: (text: string) => void; readonly signal: AbortSignal },
): Promise<ShellRun> {
  const shell = env["SHELL"] || "/bin/sh";
  const child = spawn(shell, ["-c", command], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const kill = (how: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, how);
    } catch {
      // The command has ended.
    }
  };
  let killing: NodeJS.Timeout | undefined;
  const stop = (): void => {
    kill("SIGTERM");
    killing = setTimeout(() => kill("SIGKILL"), KILL_MS).unref();
  };
  signal.addEventListener("abort", stop, { once: true });
  let kept = "";
  const take = (piece: string): void => {
    if (kept.length < MAX_KEPT) kept += piece;
    onText(piece);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", take);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    const cut = kept.length > MAX_KEPT ? `${kept.slice(0, MAX_KEPT)}\n[more was printed]` : kept;
    const how = code === null ? "stopped by me" : `exit code ${code}`;
    return { code, told: `I ran \`${command}\` (${how}):\n\n${cut.trimEnd()}` };
  } finally {
    clearTimeout(killing);
    signal.removeEventListener("abort", stop);
  }
}
