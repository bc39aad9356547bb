/** The live tree in `docs/delegation.md`: what is drawn, and which keys there are. */

import { readFileSync } from "node:fs";
import { renderFence, renderTable } from "./page.ts";

/** Made by `npm run docs:tree` from real runs. */
function readScreen(columns: number): string {
  return readFileSync(new URL(`../../../docs/tree-${columns}.txt`, import.meta.url), "utf8");
}

const STATES = [
  ["`✓` green", "completed"],
  ["`✗` red", "failed, refused, timeout"],
  ["`–` yellow", "cancelled, budget, max_turns; it is being stopped; or it was not started"],
  ["`●` cyan", "running"],
  [
    "`○` dim",
    "starting, or queued: `queued for a place` (the limit of subagents that work at once is reached), `queued for a process`, `queued for budget` (the remaining budget does not cover its first call)",
  ],
];

export function treeBlocks(): string[] {
  return [
    "## The live tree",
    "On a terminal the tree is drawn while it works. Here a run has 24 subagents, of which eight may work at once: two have completed, one has failed.",
    "![The live tree of a run with 24 subagents](tree-80.svg)",
    "The first line is the run itself: how many work, wait and are done, then tokens and cost of the whole tree, what is left of `--max-cost` and `--max-total-tokens`, and the time since it began. Each subagent has a line with its label, its name in brackets, what it did last, its tokens, its cost and its time. `silent 12 s` says that the model or the tool it waits for has sent nothing for that time. A subagent that has ended leaves a line above the tree. So does one that was not started, with the reason: `– part 09: not started: its first call may take $0.0048, and the budget has $0.0036 left for it.` The tree takes at most half of the terminal's rows; its last line counts the subagents that do not fit. It is drawn again when the terminal is resized.",
    renderTable(["sign", "meaning"], STATES),
    "The name in brackets is the subagent's id without the id of its run. `offshoot runs show`, `runs tree` and `runs replay --from` take it: `parser-1.0`, or `parser-1.0/inner-2.1` for a subagent of that subagent. If you leave out the run's id, the newest tree with such a name is meant.",
    "A second terminal shows the same: `offshoot runs follow ID` draws the tree, `offshoot runs tree ID` prints it once. Subagents that wait are in it too: `part 12 [part-12-1.11]: QUEUED for a place`, or `NOT STARTED` if the run was interrupted. Subagents that were never started are there with the reason: `docs: not started · its first call may take …`. The log says so with one `child_queue` event for all that begin to wait together; it has `why` (`place`, `process` or `budget`) and `children`.",
    "| key | what it does |\n|---|---|\n| `↑` `↓`, `k` `j` | pick a subagent |\n| `x` | stop it and all below it, after `y` and Enter |\n| `m` | write a message for it: Enter sends, Esc leaves |\n| `Esc`, any other key | back |\n| Ctrl-C, Ctrl-Z | stop the whole run; suspend it (`fg` continues) |",
    "The keys work if standard input is a terminal and standard output is not a pipe. With `NO_COLOR` the signs are words. With `TERM=dumb` and on a pipe, printed lines are never changed: each subagent gets a line when it starts and one when it ends, or one line that says why it was not started. `-q` hides all of it.",
    "The same run at 120, 80 and 40 columns:",
    ...[120, 80, 40].flatMap((columns) => [
      `![The live tree at ${columns} columns](tree-${columns}.svg)`,
      renderFence("text", readScreen(columns)),
    ]),
  ];
}
