/**
 * The form for people of a run that delegates: the root in its own form, and on standard error its
 * subagents. On a terminal a line for each that runs, drawn over in place, and one that stays when it
 * has ended; on a pipe a line when it starts and one when it ends.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { clip, plural, withThousands } from "../../base/text.ts";
import {
  createRunFold,
  type RunFigures,
  type RunFold,
} from "../../delegation/ledger/run-figures.ts";
import { createTreeTotals } from "../../delegation/ledger/tree-totals.ts";
import type { ChildEnd, ChildStart, LoggedEvent, RunEnd } from "../../protocol/run-events.ts";
import type { Output } from "../io.ts";
import { canRedraw, cleanForTerminal, dim, draw, looksOf } from "../terminal.ts";
import { toMoney, toPartialMoney, toSeconds } from "./amounts.ts";
import { createLiveBlock, type LiveBlock } from "./live-block.ts";
import type { Projection, ProjectionOptions } from "./output.ts";

/** Often enough for a counter of seconds; what happens in between is drawn with it. */
const TICK_MS = 250;
/** Waits of models are shorter mostly; a longer silence is worth a word. */
const SILENCE_MS = 5000;
/** Fits every terminal: lines that have left its top cannot be drawn over. */
const MAX_LINES = 12;

export interface TreeOutputOptions extends ProjectionOptions {
  readonly clock?: Clock | undefined;
  /** Shared with whoever else writes on the terminal. */
  readonly live?: LiveBlock | undefined;
}

export interface TreeProjection extends Projection {
  /** Takes the live lines off and stops their clock; called once, however the run ended. */
  close(): void;
}

/** `create` makes the form of the root, which is the run that the first event belongs to. */
export function createTreeOutput(
  options: TreeOutputOptions,
  create: (options: ProjectionOptions) => Projection,
): TreeProjection {
  return new TreeOutput(options, create);
}

interface Child {
  readonly id: string;
  readonly label: string;
  readonly depth: number;
  readonly startedAtMs: number;
  readonly fold: RunFold;
  /** By this process's clock: whether anything comes, whatever the log's times say. */
  heardAtMs: number;
  isEnded: boolean;
}

class TreeOutput implements TreeProjection {
  readonly #options: TreeOutputOptions;
  readonly #clock: Clock;
  readonly #live: LiveBlock;
  readonly #root: Projection;
  #rootId: string | undefined;
  readonly #totals = createTreeTotals();
  /** As they were started. */
  readonly #children = new Map<string, Child>();
  /** Whether the root's last line on the terminal is still being written. */
  #isLineOpen = false;
  /** Whether the lines are off the screen, or not those of the children that run. */
  #isStale = false;
  #ticking: AbortController | undefined;

  constructor(options: TreeOutputOptions, create: (options: ProjectionOptions) => Projection) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#live = options.live ?? createLiveBlock(options.stderr);
    const [stdout, stderr] = [this.#watch(options.stdout), this.#watch(options.stderr)];
    this.#root = create({ ...options, stdout, stderr });
  }

  async write(events: readonly LoggedEvent[]): Promise<void> {
    this.#rootId ??= events[0]?.run_id;
    for (const logged of events) this.#totals.read(logged);
    const own = events.filter(({ run_id }) => run_id === this.#rootId);
    const end = own.findIndex(({ event }) => event.type === "run_end");
    const [before, last] = end < 0 ? [own, []] : [own.slice(0, end), own.slice(end)];
    if (before.length > 0) await this.#root.write(before);
    for (const logged of events) await this.#read(logged);
    if (last.length > 0) {
      await this.#endAll();
      await this.#root.write(last);
      await this.#sumUp();
    }
    // Every delta would be too often; the clock draws what they add up to.
    if (this.#isStale) this.#draw();
  }

  hasToldWhy(): boolean {
    return this.#root.hasToldWhy?.() ?? false;
  }

  close(): void {
    this.#ticking?.abort();
    this.#ticking = undefined;
    this.#live.clear();
  }

  async #read({ run_id, event }: LoggedEvent): Promise<void> {
    const child = this.#children.get(run_id);
    if (child) {
      child.heardAtMs = this.#clock.now();
      child.fold.read(event);
    }
    if (event.type === "child_start") await this.#start(event, child?.depth ?? 0);
    if (event.type === "child_end") await this.#endTold(event);
    if (event.type === "run_end" && child) await this.#endSeen(child, event);
  }

  async #start(event: ChildStart, parentDepth: number): Promise<void> {
    const { child_id: id, label, at_ms: startedAtMs } = event;
    // A parent that was cut and repeats itself orders the same child again.
    if (this.#children.has(id)) return;
    const depth = parentDepth + 1;
    const fold = createRunFold();
    const heardAtMs = this.#clock.now();
    this.#children.set(id, { id, label, depth, startedAtMs, fold, heardAtMs, isEnded: false });
    if (!this.#isLive) await this.#say(depth, `${toShown(label)}: started`);
    this.#endRootLine();
    this.#isStale = true;
    this.#tick();
  }

  /** By the child's own log, which is mostly there first. */
  async #endSeen(child: Child, { ending, message, at_ms }: RunEnd): Promise<void> {
    if (child.isEnded) return;
    const { turns, usage, cost_usd, started_at_ms } = child.fold.figures;
    const ms = at_ms - (started_at_ms ?? child.startedAtMs);
    await this.#end(child, { ending, message, turns, tokens: usage.total_tokens, ms, cost_usd });
  }

  /** By its parent's, for a child that has none here. */
  async #endTold(event: ChildEnd): Promise<void> {
    const child = this.#children.get(event.child_id);
    if (!child || child.isEnded) return;
    const { ending, message, turns, usage, cost_usd, at_ms } = event;
    const ms = at_ms - child.startedAtMs;
    await this.#end(child, { ending, message, turns, tokens: usage.total_tokens, ms, cost_usd });
  }

  async #end(
    child: Child,
    end: {
      readonly ending: string;
      readonly message: string;
      readonly turns: number;
      readonly tokens: number;
      readonly ms: number;
      readonly cost_usd: number | null;
    },
  ): Promise<void> {
    child.isEnded = true;
    this.#isStale = true;
    const why = end.ending === "completed" || end.message === "" ? [] : [toShown(end.message)];
    const figures = [
      plural(end.turns, "turn"),
      `${withThousands(end.tokens)} tokens`,
      toSeconds(Math.max(0, end.ms)),
      toMoney(end.cost_usd),
    ];
    const said = [end.ending, ...why, ...figures].join(" · ");
    await this.#say(child.depth, `${toShown(child.label)}: ${said}`);
    if (this.#running().length === 0) this.#rest();
  }

  /** The root is over: whatever has not told of its ending is left behind. */
  async #endAll(): Promise<void> {
    for (const child of this.#running()) {
      child.isEnded = true;
      await this.#say(child.depth, `${toShown(child.label)}: no ending`);
    }
    this.#rest();
  }

  /** What the root's own figures leave out. */
  async #sumUp(): Promise<void> {
    const { totals } = this.#totals;
    if (totals.runs === 1 || this.#options.quiet) return;
    const figures = [
      plural(totals.turns, "turn"),
      plural(totals.tool_calls, "tool call"),
      `${withThousands(totals.usage.total_tokens)} tokens`,
      toPartialMoney(totals.known_usd, totals.unknown_calls),
    ];
    await this.#write(`with ${plural(totals.runs - 1, "subagent")}: ${figures.join(" · ")}`);
  }

  /** A line of a child that stays. */
  async #say(depth: number, text: string): Promise<void> {
    const { quiet, brief } = this.#options;
    if (!quiet && !brief) await this.#write(`${"  ".repeat(depth - 1)}subagent ${text}`);
  }

  async #write(line: string): Promise<void> {
    const { stderr } = this.#options;
    this.#live.clear();
    this.#endRootLine();
    await draw(stderr, `${dim(stderr, line)}\n`);
  }

  get #isLive(): boolean {
    return canRedraw(this.#options.stderr) && !this.#options.quiet;
  }

  #running(): Child[] {
    return [...this.#children.values()].filter(({ isEnded }) => !isEnded);
  }

  #draw(): void {
    if (!this.#isLive || this.#isLineOpen) return;
    this.#isStale = false;
    const running = this.#running();
    const lines = inTreeOrder(running)
      .slice(0, MAX_LINES)
      .map((child) => this.#toLine(child));
    const hidden = running.length - lines.length;
    this.#live.draw(hidden > 0 ? [...lines, `… and ${hidden} more`] : lines);
  }

  /** `  running count · read a.txt · 1,234 tokens · free · silent 7 s` */
  #toLine({ label, depth, fold, heardAtMs }: Child): string {
    const { figures } = fold;
    const silentMs = this.#clock.now() - heardAtMs;
    const parts = [
      `${figures.started_at_ms === null ? "starting" : "running"} ${toShown(label)}`,
      ...(figures.last_action === "" ? [] : [toShown(figures.last_action)]),
      `${withThousands(figures.usage.total_tokens)} tokens`,
      ...costOf(figures),
      ...(silentMs > SILENCE_MS ? [`silent ${Math.floor(silentMs / 1000)} s`] : []),
    ];
    return `${"  ".repeat(depth)}${parts.join(" · ")}`;
  }

  /** Draws again and again while anything runs: silence is an event that nobody sends. */
  #tick(): void {
    if (!this.#isLive || this.#ticking) return;
    const ticking = new AbortController();
    this.#ticking = ticking;
    const loop = async (): Promise<void> => {
      for (;;) {
        await this.#clock.sleep(TICK_MS, ticking.signal);
        this.#draw();
      }
    };
    // Ends by its signal alone.
    loop().catch(() => {});
  }

  #rest(): void {
    this.#ticking?.abort();
    this.#ticking = undefined;
  }

  /** Takes the live lines away before anything is written where they stand. */
  #watch(output: Output): Output {
    const before = (text: string): void => {
      if (!output.isTerminal) return;
      this.#live.clear();
      this.#isStale = true;
      this.#isLineOpen = !endsLine(text);
    };
    return {
      ...looksOf(output),
      get columns() {
        return output.columns;
      },
      write: (text) => {
        before(text);
        return output.write(text);
      },
      draw: (text) => {
        before(text);
        return draw(output, text);
      },
    };
  }

  #endRootLine(): void {
    const { stderr } = this.#options;
    if (!this.#isLineOpen || !stderr.isTerminal) return;
    this.#isLineOpen = false;
    void stderr.write("\n");
  }
}

/** Behind its line break may stand the end of dimming. */
function endsLine(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is our own
  return text.replace(/\x1b\[22m$/, "").endsWith("\n");
}

/** Each before its children, siblings as they started. The parents of some may have ended. */
function inTreeOrder(children: readonly Child[]): Child[] {
  const ids = new Set(children.map(({ id }) => id));
  const tops: Child[] = [];
  const below = new Map<string, Child[]>();
  for (const child of children) {
    const parent = parentOf(child.id);
    const siblings = ids.has(parent) ? (below.get(parent) ?? []) : tops;
    siblings.push(child);
    if (siblings !== tops) below.set(parent, siblings);
  }
  const withBelow = (child: Child): Child[] => [
    child,
    ...(below.get(child.id) ?? []).flatMap(withBelow),
  ];
  return tops.flatMap(withBelow);
}

/** A child's id is its parent's with its place behind. */
function parentOf(id: string): string {
  return id.slice(0, id.lastIndexOf("/"));
}

/** Nothing before the first answer has told what it took. */
function costOf({ usage, known_usd, unknown_calls }: RunFigures): string[] {
  const isKnown = usage.total_tokens > 0 || unknown_calls > 0;
  return isKnown ? [toPartialMoney(known_usd, unknown_calls)] : [];
}

/** Labels and arguments are a model's words: each cleaned by itself, on one line. */
function toShown(text: string): string {
  return clip(cleanForTerminal(text), 60);
}
