/** A tree output with streams that remember: a pipe, or a terminal whose screen can be read. */

import type { Output } from "../../../src/cli/io.ts";
import { createLiveBlock, type LiveBlock } from "../../../src/cli/output/live-block.ts";
import type { ProjectionOptions } from "../../../src/cli/output/projection.ts";
import { createTextOutput } from "../../../src/cli/output/text-output.ts";
import { createTreeOutput, type TreeProjection } from "../../../src/cli/output/tree-output.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/index.ts";
import { createTerminalScreen, type TerminalScreen } from "./terminal-screen.ts";

interface Bench {
  readonly tree: TreeProjection;
  readonly clock: ManualClock;
  /** Writes events of one run as one batch. */
  write(run_id: string, ...events: readonly RunEvent[]): Promise<void>;
}

function open(
  streams: { readonly stdout: Output; readonly stderr: Output },
  flags: Partial<ProjectionOptions> = {},
): Bench {
  const clock = createManualClock(1000);
  const off = { brief: false, quiet: false, isStructured: false, doneMarker: false };
  const tree = createTreeOutput({ ...off, ...flags, ...streams, clock }, createTextOutput);
  const next = new Map<string, number>();
  return {
    tree,
    clock,
    async write(run_id, ...events) {
      const first = next.get(run_id) ?? 0;
      next.set(run_id, first + events.length);
      await tree.write(events.map((event, at) => ({ run_id, seq: first + at, event })));
    },
  };
}

export function openPipe(
  flags = {},
): Bench & { readonly said: { stdout: string; stderr: string } } {
  const said = { stdout: "", stderr: "" };
  const pipe = (name: "stdout" | "stderr"): Output => ({
    isTerminal: false,
    columns: 80,
    write: (text) => {
      said[name] += text;
    },
  });
  return { ...open({ stdout: pipe("stdout"), stderr: pipe("stderr") }, flags), said };
}

interface Look extends Partial<ProjectionOptions> {
  readonly columns?: number;
  readonly rows?: number;
  readonly isStyled?: boolean;
}

export function openTerminal({ columns = 100, rows, isStyled, ...flags }: Look = {}): Bench & {
  readonly screen: TerminalScreen;
  readonly live: LiveBlock;
} {
  const screen = createTerminalScreen(columns, rows === undefined ? {} : { rows });
  const { output: own } = screen;
  const output: Output = {
    ...own,
    get columns() {
      return own.columns;
    },
    get rows() {
      return own.rows;
    },
    isStyled,
  };
  const live = createLiveBlock(output);
  return { ...open({ stdout: output, stderr: output }, { live, ...flags }), screen, live };
}

export const text = (delta: string): RunEvent => ({ type: "text_delta", index: 0, part: 0, delta });
export const asking: RunEvent = { type: "turn_start", turn: 1, at_ms: 1000 };

export function orders(...labels: readonly string[]): RunEvent[] {
  return labels.map((label) => ({
    type: "tool_start",
    call_id: `call_${label}`,
    name: "subagent",
    arguments: JSON.stringify({ label, task_prompt: "Look." }),
    at_ms: 1000,
  }));
}
