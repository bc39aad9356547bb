import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { SandboxLevel } from "../../../src/tools/sandbox/sandbox.ts";
import { levelLack, unless } from "../../needs.ts";
import { openTestSandbox } from "./test-sandbox.ts";

const PROGRAM = fileURLToPath(new URL("./short-lived.js", import.meta.url));

/** Ways in which a command may try to stay: `N` is how long it sleeps, which is how it is found. */
const SCRIPTS = {
  "a command": "sleep N",
  "one in the background": "sleep N & sleep N",
  "one that ignores signals": "trap '' TERM HUP INT; sleep N; sleep N",
  "one that left its group": "setsid sleep N & sleep N",
  "one that left its group and lost its environment": "setsid env -i sleep N & sleep N",
};

/**
 * Starts a program of ours that starts the script, and ends the program in the given way. Resolves when
 * every process has closed the pipe that the script holds open; a test that hangs here has found a process
 * that stayed.
 */
async function outlive(level: SandboxLevel, script: string, end: NodeJS.Signals): Promise<void> {
  await using place = await openTestSandbox(level);
  const pipe = join(place.root, "pipe");
  execFileSync("mkfifo", [pipe]);
  const held = createReadStream(pipe);
  const closed = once(held, "end");
  const words = [PROGRAM, level, place.root, `exec 9>pipe; echo up >&9; ${script}`];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "ignore", "inherit"] });
  await once(held, "data");
  child.kill(end);
  await Promise.all([once(child, "exit"), closed]);
}

/** Minutes: a test that waits so long has found a process that stayed. */
const LIMIT = { timeout: 180_000 };

describe("the life line", () => {
  for (const level of ["none", "process", "sandbox"] as const) {
    for (const [what, script] of Object.entries(SCRIPTS)) {
      it(
        ...unless(levelLack(level))(`ends ${what} when its parent is killed (${level})`),
        async () => {
          const mark = `62${process.pid}${level.length}${what.length}`;
          await outlive(level, script.replaceAll("N", mark), "SIGKILL");
        },
      );
    }
  }

  it("ends a command if its parent ends by a signal that it does not handle", LIMIT, async () => {
    const mark = `63${process.pid}`;
    await outlive("process", `sleep ${mark}`, "SIGHUP");
  });
});
