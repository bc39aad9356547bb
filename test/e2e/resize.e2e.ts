/** A terminal that changes its size under the live tree, and the contents of its scrollback then. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { CLI } from "./command.ts";
import { type HeldTree, PARTS, prepareTree } from "./watched-tree.ts";

const run = promisify(execFile);

interface Tmux extends AsyncDisposable {
  resize(columns: number, rows: number): Promise<void>;
  /** Every line, the scrollback's first. */
  read(): Promise<string[]>;
}

/** A tmux server of its own. `before` is what its shell does before the command. */
async function startInTmux({ place, args }: HeldTree, before: string): Promise<Tmux> {
  const env = {
    PATH: process.env["PATH"],
    HOME: place.home,
    LC_ALL: "C.UTF-8",
    OFFSHOOT_PROBE_LOCAL: "false",
  };
  const tmux = async (...words: readonly string[]): Promise<string> =>
    (await run("tmux", ["-S", `${place.home}/tmux`, "-f", "/dev/null", ...words], { env })).stdout;
  const words = [process.execPath, CLI, ...args].map((word) => `'${word}'`);
  // It continues when the test ends the server.
  const line = `${before}; ${words.join(" ")}; echo over; cat`;
  await tmux("new-session", "-d", "-s", "t", "-x", "120", "-y", "30", "-c", place.cwd, line);
  return {
    async resize(columns, rows) {
      await tmux("resize-window", "-t", "t", "-x", String(columns), "-y", String(rows));
    },
    read: async () => (await tmux("capture-pane", "-p", "-t", "t", "-S", "-")).split("\n"),
    async [Symbol.asyncDispose]() {
      await tmux("kill-server").catch(() => {});
    },
  };
}

interface Screen {
  readonly name: string;
  readonly before: string;
  readonly sizes: readonly (readonly [columns: number, rows: number])[];
}

/**
 * Terminals wrap lines before they report a new size, and tmux keeps the empty rows below: on an empty
 * screen the rows that this adds go into the scrollback, so the lines must not wrap there.
 */
const SCREENS: readonly Screen[] = [
  {
    name: "a full screen",
    before: "seq 100 160",
    sizes: [
      [40, 28],
      [200, 26],
      [120, 10],
      [60, 24],
      [120, 30],
    ],
  },
  {
    name: "an empty screen",
    before: "seq 100 101",
    sizes: [
      [80, 28],
      [200, 26],
      [120, 10],
      [100, 24],
      [120, 6],
    ],
  },
];
/** The lines that stay: of the shell, of subagents that have ended, and of the run's end. */
const STAYS =
  /^(\d{3}|model: .*|[✓✗] .*| {2}\S.*|All parts.*|with \d+.*|\d+ turns.*|run: .*|over|)$/;

describe(...unless(programLack("tmux"))("a live tree in tmux (needs tmux)"), () => {
  for (const { name, before, sizes } of SCREENS)
    it(`leaves no copy of itself on ${name} that is narrowed, widened and lowered`, async () => {
      await using tree = await prepareTree();
      await using tmux = await startInTmux(tree, before);
      const sees = async (isSeen: (lines: readonly string[]) => boolean, what: string) => {
        let last: readonly string[] = [];
        await untilTrue(
          async () => {
            last = await tmux.read();
            return isSeen(last);
          },
          `${what} on the screen:\n${last.join("\n")}`,
        );
        return last;
      };
      const isRunning = (lines: readonly string[]): boolean =>
        lines.some((line) => /^├ ● part .*12[.,]4/.test(line));
      await sees(isRunning, "the tree");
      for (const [columns, rows] of sizes) {
        await tmux.resize(columns, rows);
        const isWhole = (lines: readonly string[]): boolean =>
          lines.some((line) => line.startsWith("↑ ↓")) &&
          lines.filter((line) => isOwn(line, columns)).length === toHeight(rows) &&
          lines.every((line) => STAYS.test(line) || isOwn(line, columns));
        const lines = await sees(isWhole, `the tree at ${columns}x${rows}`);
        const roots = lines.filter((line) => line.startsWith("● root"));
        assert.equal(roots.length, 1, lines.join("\n"));
      }
      tree.release(...PARTS);
      const lines = await sees((all) => all.includes("over"), "the end");
      const left = lines.filter((line) => !STAYS.test(line));
      assert.deepEqual(left, [], lines.join("\n"));
    });
});

/**
 * How many lines the tree has, which shows that it was drawn for this size: tmux reports a new size to a
 * program a quarter of a second late.
 */
function toHeight(rows: number): number {
  return Math.max(2, Math.floor((rows - 1) / 2) - 1) + 1;
}

/** True for a complete line of the tree. */
function isOwn(line: string, columns: number): boolean {
  return line.length < columns && /^([●├└] |↑ ↓ )/.test(line);
}
