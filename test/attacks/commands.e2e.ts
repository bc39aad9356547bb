/** Attacks by commands: hiding a program from the rules, outliving the call, exceeding limits. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readCommand } from "../../src/tools/gate/read-command.ts";
import { levelLack, programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { countProcesses, openTestSandbox } from "../tools/sandbox/test-sandbox.ts";
import { EXCESSES, type Excess, HIDDEN_COMMANDS, OUTLIVING } from "./command-rows.ts";

describe("a command that hides `rm`", () => {
  for (const { name, command } of HIDDEN_COMMANDS) {
    it(`is recognized or not readable: ${name}`, () => {
      const { commands, isReadable } = readCommand(command);
      const names = commands.map(([program = ""]) => program.split("/").at(-1));
      assert.ok(names.includes("rm") || !isReadable, JSON.stringify(commands));
    });
  }
});

describe("a child that tries to outlive its call", () => {
  for (const { name, script, levels } of OUTLIVING) {
    for (const level of levels) {
      const able = unless(programLack("setsid", "bash") ?? levelLack(level));
      it(...able(`is gone with it: ${name} (${level})`), async () => {
        await using place = await openTestSandbox(level);
        const seconds = uniqueSeconds();
        const { exitCode, timedOut } = await place.sh(script.replaceAll("NUMBER", seconds));
        assert.deepEqual({ exitCode, timedOut }, { exitCode: 0, timedOut: false });
        assert.equal(countProcesses(seconds), 0);
      });
    }
  }

  const able = unless(programLack("setsid", "bash"));
  it(...able("was there before: the scripts do start something"), async () => {
    await using place = await openTestSandbox("none");
    for (const { name, script } of OUTLIVING) {
      const seconds = uniqueSeconds();
      const running = await place.sandbox.start({
        argv: ["/bin/sh", "-c", `${script.replaceAll("NUMBER", seconds)}\ncat >/dev/null`],
        cwd: place.root,
      });
      try {
        // The trap's command runs at the end, which does not come before `kill`.
        if (name === "from a trap at the end") continue;
        await untilTrue(() => countProcesses(`sleep\0${seconds}`) > 0, `a process of \`${name}\``);
      } finally {
        await running.kill();
      }
    }
  });
});

// In parallel: most of the time is spent waiting for time limits.
describe("a command that exceeds a limit", { concurrency: 4 }, () => {
  for (const excess of EXCESSES.filter((one) => !isForking(one))) {
    for (const level of ["process", "sandbox"] as const) tryExcess(excess, level);
  }

  it("gets no input: it is empty", async () => {
    await using place = await openTestSandbox("process");
    assert.equal((await place.sh("cat; read x; echo end")).stdout, "end\n");
  });
});

// One by one, because each uses the whole machine while it lasts.
describe("a command that starts others without end", () => {
  for (const excess of EXCESSES.filter(isForking)) {
    for (const level of ["process", "sandbox"] as const) tryExcess(excess, level);
  }
});

function isForking({ name }: Excess): boolean {
  return name.endsWith("without end");
}

function tryExcess({ name, script, timeoutMs }: Excess, level: "process" | "sandbox"): void {
  const able = unless(programLack("setsid") ?? levelLack(level));
  it(...able(`is stopped with all it started: ${name} (${level})`), async () => {
    await using place = await openTestSandbox(level);
    const options = { timeoutMs, maxStdoutBytes: 1000, maxStderrBytes: 1000 };
    const seconds = uniqueSeconds();
    const line = `: ${seconds}; ${script.replaceAll("NUMBER", seconds)}`;
    const { timedOut, stdout, stderr } = await place.sh(line, options);
    assert.ok(timedOut);
    assert.ok(stdout.length <= 1000 && stderr.length <= 1000);
    assert.equal(countProcesses(seconds), 0);
  });
}

let last = 40_000_000;

/** A number that no process of this machine sleeps for. */
function uniqueSeconds(): string {
  return `${last++}.${process.pid}`;
}
