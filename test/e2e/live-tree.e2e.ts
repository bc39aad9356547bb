/** The live tree as a user sees it, on terminals of three widths, and the effects of its keys. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, TERMINAL_LACK, unless } from "../needs.ts";
import { createPlace } from "./command.ts";
import { startOnTerminal } from "./terminal.ts";
import { watchTree } from "./watched-tree.ts";

const DOCS = new URL("../../../docs/", import.meta.url);
const SIZES = [
  [120, 30],
  [80, 24],
  [40, 24],
] as const;

/** Removes what depends on the speed of the machine: times, and text that is cut to make room for them. */
function withoutTime(lines: readonly string[]): string {
  return lines
    .map((line) =>
      line
        .replace(/ · silent [\d smh]+/, "")
        .replace(/\d+ m \d+ s|\d+(\.\d)? s/g, "N s")
        .replace(/ tok\b/, "")
        .replace(/\+\?| \+ unknown/, "")
        .replace(/ \[[\w/.-]+\]/, "")
        .replace(/^([├└] ● )[^·]+ · ([^·\d]+ · )?/, "$1… · ")
        .replace(/127\.0\.0\.1:\d+/, "HOST")
        .replace(/run_\w+/, "run_ID"),
    )
    .join("\n");
}

describe(...unless(TERMINAL_LACK)("the live tree of 24 subagents"), () => {
  for (const [columns, rows] of SIZES) {
    it(`is what the documentation shows, at ${columns} columns`, async () => {
      await using tree = await watchTree({ columns, rows });
      await tree.settle();
      const { lines } = tree.read();
      const documented = readFileSync(new URL(`tree-${columns}.txt`, DOCS), "utf8");
      assert.equal(withoutTime(lines), withoutTime(documented.trimEnd().split("\n")));
      for (const line of lines) assert.ok([...line].length <= columns, line);
      tree.release();
      assert.equal(await tree.terminal.ended, 0, tree.terminal.screen);
      assert.match(tree.read().lines.join("\n"), /^run: run_\w{26} /m);
    });
  }

  it("stops one by keys, leaves a message for another, and restores the terminal", async () => {
    await using tree = await watchTree({ columns: 80, rows: 24, after: "stty -a" });
    const { terminal } = tree;
    await tree.settle();
    await tree.sees(/^↑ ↓ pick a subagent$/);
    terminal.type("j");
    await tree.sees(/part 04.* ←$/);
    terminal.type("\x1b[B");
    await tree.sees(/part 05.* ←$/);
    terminal.type("x");
    await tree.sees(/^Stop part-05-1\.4 and all below it\? y, Enter$/);
    terminal.type("y");
    await tree.sees(/^Enter stops part-05-1\.4 and all below it$/);
    terminal.type("\r");
    await tree.sees(/^– part 05 .*cancelled · /);
    terminal.type("km");
    await tree.sees(/^to part-\d\d-1\.\d+: _ \(Enter sends, Esc leaves\)$/);
    terminal.type("Look at the tests, too.\r");
    await tree.sees(/^Left for part-\d\d-1\.\d+ · x stop/);
    // Typed keys leave nothing on the screen.
    terminal.type("\r\r\x1b");
    await tree.sees(/^↑ ↓ pick a subagent$/);
    const roots = tree.read().lines.filter((line) => line.startsWith("● root"));
    assert.equal(roots.length, 1, tree.read().lines.join("\n"));
    tree.release();
    assert.equal(await terminal.ended, 0, terminal.screen);
    const { lines } = tree.read();
    assert.equal(lines.filter((line) => line.startsWith("✓ ")).length, 22, lines.join("\n"));
    assert.ok(!lines.some((line) => /^[●├└]|pick a subagent/.test(line)), lines.join("\n"));
    assert.match(lines.join("\n"), / icanon /);
    assert.match(lines.join("\n"), / echo /);
    const ids = await tree.place.runIds();
    const [stopped = ""] = ids.filter((id) => id.endsWith("/part-05-1.4"));
    assert.equal((await tree.place.show(stopped)).ending, "cancelled");
    // Commands accept the name in brackets.
    assert.equal((await tree.place.show("part-05-1.4")).id, stopped);
  });

  it("ends with the run's id after Ctrl-C, and restores the terminal", async () => {
    await using tree = await watchTree({ columns: 80, rows: 24, after: "stty -a" });
    await tree.settle();
    tree.terminal.type("\x03");
    assert.equal(await tree.terminal.ended, 130, tree.terminal.screen);
    const said = tree.read().lines.join("\n");
    assert.match(said, /\nrun: run_\w+ \(offshoot runs tree, show, replay; run -c\)\n/);
    assert.match(said, /\noffshoot: The run was cancelled\.\n/);
    assert.match(said, / icanon /);
    assert.match(said, / echo /);
  });
});

describe(...unless(TERMINAL_LACK)("a terminal whose keys are read"), () => {
  it("is restored after a crash", async () => {
    await using place = await createPlace();
    const keys = new URL("../../src/cli/terminal-keys.js", import.meta.url);
    const crash = `
      const { openTerminalKeys } = await import(${JSON.stringify(keys.href)});
      const onKeys = () => { throw new Error("It crashed."); };
      openTerminalKeys({ onKeys, onSuspend() {} });
      setInterval(() => {}, 1000);
      console.log("ready");`;
    await writeFile(join(place.cwd, "crash.mjs"), crash);
    const shell = `'${process.execPath}' crash.mjs`;
    const setup = { columns: 80, rows: 24, shell, after: "stty -a" };
    const terminal = startOnTerminal(place, [], "", setup);
    await terminal.shows("ready");
    terminal.type("x");
    await terminal.shows("It crashed.");
    assert.equal(await terminal.ended, 1, terminal.screen);
    assert.match(terminal.screen, / icanon .* echo /s);
    assert.doesNotMatch(terminal.screen, /-icanon/);
  });
});

const SHELL_LACK = TERMINAL_LACK ?? programLack("bash");

describe(...unless(SHELL_LACK)("a live tree that is stopped by Ctrl-Z"), () => {
  it("gives the terminal to the shell, and comes back with `fg`", async () => {
    const shell = "PS1='$ ' bash --norc --noprofile --noediting -i";
    await using tree = await watchTree({ columns: 80, rows: 24, shell });
    const { terminal } = tree;
    await terminal.shows("$ ");
    terminal.type('eval "$COMMAND_LINE"\r');
    await tree.settle();
    terminal.type("\x1a");
    await terminal.shows("Stopped");
    terminal.type("stty -a\r");
    await terminal.shows(" icanon ");
    terminal.type("fg\r");
    await tree.sees(/^● root/);
    terminal.type("j");
    await tree.sees(/part 04.* ←$/);
    tree.release();
    await terminal.shows("run: run_");
    terminal.type("exit\r");
    assert.equal(await terminal.ended, 0, terminal.screen);
  });
});
