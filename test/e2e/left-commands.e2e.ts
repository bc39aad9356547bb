/**
 * Commands end with the run that started them: however the run ended, at each level. If even the keeper was
 * killed, the next owner of the run ends them before it starts them again.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ToolProcess } from "../../src/protocol/tool-process.ts";
import { reply, script, startChatUpstream } from "../../src/testing/index.ts";
import { levelLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { createPlace, type Place } from "./command.ts";

const LEVELS = ["none", "process", "sandbox"] as const;

/** Holds a pipe open, so that its end is seen. Each start adds a line to `starts`. */
const COMMAND = "echo started >> starts; exec 9>pipe; echo up >&9; trap '' HUP TERM; sleep 600";

const call = reply.calls([{ name: "shell", arguments: { command: COMMAND } }]);

interface Held {
  /** Resolves when no process holds the pipe open any more. */
  readonly closed: Promise<unknown>;
  readonly up: Promise<unknown>;
}

function hold({ cwd }: Place): Held {
  const pipe = join(cwd, "pipe");
  execFileSync("rm", ["-f", pipe]);
  execFileSync("mkfifo", [pipe]);
  const stream = createReadStream(pipe);
  return { up: once(stream, "data"), closed: once(stream, "end") };
}

const words = (url: string, level: string): string[] => [
  ...["run", "-m", "test-model", "--url", url, "--provider", "openai-chat"],
  ...["--tools", "shell", "--approve", "auto", "--sandbox", level, "go"],
];

const startsOf = ({ cwd }: Place): number =>
  readFileSync(join(cwd, "starts"), "utf8").trim().split("\n").length;

describe("a command", { skip: process.platform !== "linux" }, () => {
  for (const level of LEVELS) {
    const held = unless(levelLack(level));
    it(
      ...held(`ends with its run when that is killed, and runs once more on resume (${level})`),
      async () => {
        await using place = await createPlace();
        await using upstream = await startChatUpstream({
          engine: script(call, reply.text("Done.")),
        });
        const held = hold(place);
        const command = place.start(words(upstream.url, level));
        await held.up;
        command.child.kill("SIGKILL");
        await held.closed;
        await command.ended;
        const [id = ""] = await place.runIds();
        const { events } = await place.show(id);
        const kinds = events.map(({ type }) => type).filter((type) => type.startsWith("tool_"));
        assert.deepEqual(kinds, ["tool_start", "tool_decision", "tool_process"]);

        const again = hold(place);
        const resumed = place.start(["runs", "resume", id]);
        await again.up;
        assert.equal(startsOf(place), 2);
        resumed.child.kill("SIGTERM");
        await again.closed;
        assert.equal((await resumed.ended).code, 130);
      },
    );
  }

  it("ends with its run if the terminal is closed, and the run is cancelled", async () => {
    await using place = await createPlace();
    await using upstream = await startChatUpstream({ engine: script(call, reply.text("Done.")) });
    const held = hold(place);
    const command = place.start(words(upstream.url, "process"));
    await held.up;
    command.child.kill("SIGHUP");
    await held.closed;
    const { code, stderr } = await command.ended;
    assert.equal(code, 130, stderr);
    const [id = ""] = await place.runIds();
    assert.equal((await place.show(id)).ending, "cancelled");
  });

  it("that outlived its run and its keeper is ended by the next owner of the run", async () => {
    await using place = await createPlace();
    await using upstream = await startChatUpstream({ engine: script(call, reply.text("Done.")) });
    const held = hold(place);
    const command = place.start(words(upstream.url, "process"));
    await held.up;
    const { pid = 0 } = command.child;
    for (const keeper of keepersOf(pid)) process.kill(keeper, "SIGKILL");
    command.child.kill("SIGKILL");
    await command.ended;
    const [id = ""] = await place.runIds();
    const { events } = await place.show(id);
    const started = events.find((event): event is ToolProcess => event.type === "tool_process");
    assert.ok(
      started && isRunning(started.pid),
      "it continues, since no process is left to end it",
    );

    const resumed = place.start(["runs", "resume", id]);
    await held.closed;
    // A killed process closes its files a moment before it is gone.
    await untilTrue(() => !isRunning(started.pid), "the command's end");
    resumed.child.kill("SIGKILL");
    await resumed.ended;
  });
});

/** The children of a process with the keeper's script. */
function keepersOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      const stat = readOrNothing(`/proc/${name}/stat`);
      const [, ppid] = stat
        .slice(stat.lastIndexOf(")") + 1)
        .trim()
        .split(" ");
      return Number(ppid) === parent && readOrNothing(`/proc/${name}/cmdline`).includes("held=");
    })
    .map(Number);
}

function isRunning(pid: number): boolean {
  return /\) [^ZX] /.test(readOrNothing(`/proc/${pid}/stat`));
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
