/**
 * The output for people of a run that delegates: the root in its own form, and the tree on standard error. On a
 * terminal, a line for each run that works or waits is redrawn in place, and a line stays for each subagent that has
 * ended. On a pipe there is one line when a subagent starts and one when it ends.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { breakAtWords, clip, plural, withThousands } from "../../base/text.ts";
import type { RefusedChild } from "../../delegation/ledger/refused-children.ts";
import { toCallText } from "../../delegation/ledger/run-figures.ts";
import { createTreeTotals } from "../../delegation/ledger/tree-totals.ts";
import type { Ending, LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import type { KeyReader, Output } from "../io.ts";
import { canRedraw, cleanForTerminal, draw, isStyled, looksOf, paint } from "../terminal.ts";
import { toPartialMoney, toSeconds, toShortCount, toShortMoney } from "./amounts.ts";
import {
  createLiveBlock,
  type LiveBlock,
  type StyledLine,
  toPlain,
  widthOf,
} from "./live-block.ts";
import type { LiveNode, NodeEnd, NodeNews } from "./live-node.ts";
import { createLiveTree, type LiveTree } from "./live-tree.ts";
import type { Projection, ProjectionOptions } from "./projection.ts";
import { TreeKeys } from "./tree-keys.ts";
import { SIGNS, toNodeLine, toTokens } from "./tree-line.ts";
import { type TreeView, toShown, toTreeLines } from "./tree-view.ts";

/** Interval between most frames: people see at most ten a second. */
const FRAME_MS = 100;
/** A run that answers sooner needs no line that says that it waits. */
const PATIENCE_MS = 300;
/** The most characters of a reason that has its own line. */
const REASON_CHARS = 200;
/** More lines than this cannot be read while they change, however high the terminal is. */
const MAX_LINES = 32;

export interface TreeOutputOptions extends ProjectionOptions {
  readonly clock?: Clock | undefined;
}

export interface TreeProjection extends Projection {
  /** Removes the live lines and stops their clock; called once, however the run ended. */
  close(): void;
}

/** `create` makes the form of the root, which is the run of the first event. */
export function createTreeOutput(
  options: TreeOutputOptions,
  create: (options: ProjectionOptions) => Projection,
): TreeProjection {
  return new TreeOutput(options, create);
}

class TreeOutput implements TreeProjection {
  readonly #options: TreeOutputOptions;
  readonly #clock: Clock;
  readonly #live: LiveBlock;
  readonly #root: Projection;
  readonly #tree: LiveTree;
  readonly #totals = createTreeTotals();
  readonly #keys: TreeKeys;
  #keyReader: KeyReader | undefined;
  #stopWatching: (() => void) | undefined;
  #limits: TreeView["limits"] = { usd: undefined, tokens: undefined };
  /** True while the root's last line on the terminal is unfinished. */
  #isLineOpen = false;
  /** True if the screen shows an old state. */
  #isStale = false;
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  /** When the root began, or last wrote to the terminal. */
  #rootAtMs = 0;
  #ticking: AbortController | undefined;
  #stopResizing: (() => void) | undefined;

  constructor(options: TreeOutputOptions, create: (options: ProjectionOptions) => Projection) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#live = options.live ?? createLiveBlock(options.stderr);
    this.#tree = createLiveTree(() => this.#clock.now(), this.#totals);
    const { controls } = options;
    this.#keys = new TreeKeys({
      list: () => this.#tree.listRunning(),
      onStop: async (id) => {
        this.#tree.markStopping(id);
        await controls?.onStop(id);
      },
      onMessage: async (id, text) => await controls?.onMessage(id, text),
      onChange: () => this.#draw(),
    });
    const stdout = this.#watch(options.stdout);
    const stderr = this.#watch(options.stderr);
    this.#root = create({ ...options, stdout, stderr, isTreeShown: this.#isLive });
  }

  async write(events: readonly LoggedEvent[]): Promise<void> {
    this.#tick();
    for (const logged of events) this.#totals.read(logged);
    const rootId = this.#tree.root?.id ?? events[0]?.run_id;
    const own = events.filter(({ run_id }) => run_id === rootId);
    const end = own.findIndex(({ event }) => event.type === "run_end");
    const [before, last] = end < 0 ? [own, []] : [own.slice(0, end), own.slice(end)];
    if (before.length > 0) await this.#root.write(before);
    for (const logged of events) await this.#read(logged);
    if (last.length > 0) {
      await this.#endAll();
      await this.#root.write(last);
      await this.#sumUp();
    }
    // Drawing for every delta would be too often; the clock draws their sum.
    if (this.#isStale && this.#clock.now() - this.#drawnAtMs >= FRAME_MS) this.#draw();
  }

  count(events: readonly LoggedEvent[]): void {
    for (const logged of events) this.#totals.read(logged);
    this.#root.count?.(events);
  }

  hasToldWhy(): boolean {
    return this.#root.hasToldWhy?.() ?? false;
  }

  close(): void {
    this.#rest();
    this.#live.clear();
  }

  async #read(logged: LoggedEvent): Promise<void> {
    if (logged.event.type === "run_start" && !this.#tree.root) {
      this.#limits = toLimits(logged.event);
      this.#rootAtMs = this.#clock.now();
    }
    const before = this.#tree.counts.queued;
    const news = this.#tree.read(logged);
    if (news || this.#tree.counts.queued !== before) this.#isStale = true;
    if (news) await this.#tell(news);
  }

  async #tell(news: NodeNews): Promise<void> {
    if (news.type === "ended") {
      this.#keys.forget(news.node.id);
      await this.#say(this.#toEndLines(news.node, news.end));
    } else if (news.type === "refused") {
      await this.#say(news.children.flatMap((child) => this.#toRefusedLines(child)));
    } else if (this.#isLive) this.#endRootLine();
    // The drawn lines show it too, and the terminal of the run asks.
    else if (news.type === "asks") await this.#say([[{ text: toAskLine(news) }]]);
    else await this.#say([[{ text: `subagent ${toNamed(news.node)}: started` }]]);
  }

  /** For example `✓ count [count-1.0]: completed · 2 turns · 1,234 tokens · 1.2 s · free` */
  #toEndLines(node: LiveNode, end: NodeEnd): StyledLine[] {
    // A person who stopped it knows the reason.
    const isPlain = end.ending === "completed" || end.ending === "cancelled";
    const why = isPlain ? "" : clip(cleanForTerminal(end.message), REASON_CHARS);
    const words = [end.ending, ...(why === "" ? [] : [why])];
    const { turns, usage, known_usd, unknown_calls } = end.figures;
    const figures = [
      plural(turns, "turn"),
      `${withThousands(usage.total_tokens)} tokens`,
      toSeconds(end.ms),
      toPartialMoney(known_usd, unknown_calls, usage.total_tokens),
    ];
    const said = ` · ${figures.join(" · ")}`;
    const whole: StyledLine = [
      ...this.#toEndHead(end.ending),
      { text: toNamed(node) },
      { text: `: ${words.join(" · ")}${said}`, look: "dim" },
    ];
    if (this.#hasRoom(whole)) return [whole];
    return [this.#toShortEnd(node, end), ...this.#toReason(why)];
  }

  /** For example `– part 09: not started: its first call may take $0.01, and …` */
  #toRefusedLines({ label, why }: RefusedChild): StyledLine[] {
    const reason = clip(cleanForTerminal(why), REASON_CHARS);
    const named: StyledLine = [
      ...this.#toEndHead("cancelled"),
      { text: toShown(label) },
      { text: ": not started", look: "dim" },
    ];
    const whole: StyledLine = [...named, { text: `: ${reason}`, look: "dim" }];
    return this.#hasRoom(whole) ? [whole] : [named, ...this.#toReason(reason)];
  }

  #toEndHead(ending: Ending): StyledLine {
    const { sign, look } = SIGNS[ending];
    const hasSigns = this.#isLive && isStyled(this.#options.stderr);
    return hasSigns ? [{ text: `${sign} `, look }] : [{ text: "subagent ", look: "dim" }];
  }

  #hasRoom(line: StyledLine): boolean {
    return !this.#isLive || widthOf(toPlain(line)) < this.#options.stderr.columns;
  }

  #toReason(why: string): StyledLine[] {
    const lines = why === "" ? [] : breakAtWords(why, this.#options.stderr.columns - 3);
    return lines.map((text): StyledLine => [{ text: `  ${text}`, look: "dim" }]);
  }

  /** On a narrow terminal the label is cut, and the reason has its own line. */
  #toShortEnd({ label, name }: LiveNode, { ending, figures: spent, ms }: NodeEnd): StyledLine {
    const { stderr } = this.#options;
    const room = { columns: stderr.columns - 1, isStyled: isStyled(stderr) };
    const { known_usd: usd, unknown_calls: unknown } = spent;
    const { total_tokens: tokens } = spent.usage;
    const cost = toPartialMoney(usd, unknown, tokens);
    const figures = [toTokens(tokens, room.columns), cost, toSeconds(ms)];
    const short = [toShortCount(tokens), toShortMoney(usd, unknown, tokens), toSeconds(ms)];
    // One sign stands for several endings.
    const action = SIGNS[ending].look === "warn" ? ending : "";
    const shown = { label: toShown(label), name, action, figures, short };
    return toNodeLine({ branch: "", state: ending, ...shown }, room);
  }

  /** The root has ended: runs without an ending are shown as they are. */
  async #endAll(): Promise<void> {
    for (const node of this.#tree.abandon()) {
      await this.#say([[{ text: `subagent ${toNamed(node)}: no ending`, look: "dim" }]]);
    }
    this.#rest();
    this.#live.clear();
  }

  /** Adds the totals that the root's own figures do not include. */
  async #sumUp(): Promise<void> {
    const { totals } = this.#totals;
    const { refused } = this.#tree.counts;
    if ((totals.runs === 1 && refused === 0) || this.#options.quiet) return;
    const figures = [
      plural(totals.turns, "turn"),
      plural(totals.tool_calls, "tool call"),
      `${withThousands(totals.usage.total_tokens)} tokens`,
      toPartialMoney(totals.known_usd, totals.unknown_calls),
    ];
    const missing = refused === 0 ? "" : `, ${refused} not started`;
    const text = `with ${plural(totals.runs - 1, "subagent")}${missing}: ${figures.join(" · ")}`;
    this.#live.clear();
    await this.#write([{ text, look: "dim" }]);
  }

  /** Prints lines that stay. While the tree is live, they come with its next frame. */
  async #say(lines: readonly StyledLine[]): Promise<void> {
    const { quiet, brief } = this.#options;
    if (quiet || brief) return;
    this.#endRootLine();
    if (this.#isLive) for (const line of lines) this.#live.print(line);
    else for (const line of lines) await this.#write(line);
  }

  async #write(line: StyledLine): Promise<void> {
    const { stderr } = this.#options;
    this.#endRootLine();
    await draw(stderr, `${paint(stderr, line)}\n`);
  }

  get #isLive(): boolean {
    return canRedraw(this.#options.stderr) && !this.#options.quiet;
  }

  #draw(): void {
    if (!this.#isLive || this.#isLineOpen || !this.#ticking || this.#live.isHeld) return;
    const { root, counts } = this.#tree;
    const nowMs = this.#clock.now();
    const isAlone = counts.running + counts.queued === 0;
    if (!root || (isAlone && nowMs - this.#rootAtMs < PATIENCE_MS)) return;
    this.#openKeys();
    this.#isStale = false;
    this.#drawnAtMs = nowMs;
    const { stderr } = this.#options;
    const columns = stderr.columns - 1;
    const room = { columns, lines: this.#countLines(), isStyled: isStyled(stderr) };
    const { pickedId } = this.#keys;
    const { totals } = this.#totals;
    const view = { root, counts, totals, limits: this.#limits, pickedId, nowMs };
    const hint = this.#keyReader && this.#keys.hint(columns, room.isStyled);
    this.#live.draw([...toTreeLines(view, room), ...(hint ? [hint] : [])]);
  }

  /**
   * Half of the terminal, one line of it for the keys. Lines that have left the top cannot be redrawn, and a terminal
   * made half as wide breaks each line in two before it reports its new size.
   */
  #countLines(): number {
    const half = Math.floor(((this.#options.stderr.rows ?? 24) - 1) / 2);
    return Math.max(2, Math.min(half - 1, MAX_LINES));
  }

  /** While keys are read nothing is echoed, so that typing does not move the lines. */
  #openKeys(): void {
    const { openKeys } = this.#options;
    // Keys must not be offered if they can do nothing.
    if (!openKeys || !this.#options.controls || this.#stopWatching) return;
    this.#keyReader = openKeys({
      onKeys: (keys) => this.#keys.press(keys),
      onSuspend: () => this.#live.clear(),
    });
    this.#stopWatching = this.#live.watchHolds((isHeld) => {
      if (isHeld) this.#keyReader?.pause();
      else this.#keyReader?.resume();
    });
  }

  /** Redraws while a run works: silence has no event. */
  #tick(): void {
    if (!this.#isLive || this.#ticking || this.#tree.root) return;
    const ticking = new AbortController();
    this.#ticking = ticking;
    // At once: until then the terminal shows lines that it has broken.
    this.#stopResizing = this.#options.stderr.onResize?.(() => {
      if (this.#drawnAtMs > Number.NEGATIVE_INFINITY) this.#draw();
    });
    const loop = async (): Promise<void> => {
      for (;;) {
        await this.#clock.sleep(FRAME_MS, ticking.signal);
        this.#draw();
      }
    };
    // The loop ends only by its signal.
    loop().catch(() => {});
  }

  #rest(): void {
    this.#ticking?.abort();
    this.#ticking = undefined;
    this.#stopResizing?.();
    this.#stopWatching?.();
    this.#keyReader?.close();
    this.#keyReader = undefined;
  }

  /** Removes the live lines before other output is written in their place. */
  #watch(output: Output): Output {
    const before = (text: string): void => {
      if (!output.isTerminal) return;
      this.#live.clear();
      this.#isStale = true;
      this.#rootAtMs = this.#clock.now();
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

/** A sequence that ends dimming may follow the line break. */
function endsLine(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is our own
  return text.replace(/\x1b\[22m$/, "").endsWith("\n");
}

function toLimits({ settings }: Extract<RunEvent, { type: "run_start" }>): TreeView["limits"] {
  const { usd, tokens } = settings.limits ?? {};
  const toNumber = (value: unknown) => (typeof value === "number" ? value : undefined);
  return { usd: toNumber(usd), tokens: toNumber(tokens) };
}

/** If nothing is drawn: who waits, for what, and how to answer. */
function toAskLine({ node, question }: Extract<NodeNews, { type: "asks" }>): string {
  const who = node.parent ? `subagent ${toNamed(node)}` : "run";
  const what = toShown(toCallText(question));
  return `${who}: waits for approval: ${what} (offshoot runs approve ${toShown(node.id)} ${toShown(question.question)})`;
}

/** `count [count-1.0]`: the label comes from the parent, and commands accept the name. */
function toNamed({ label, name }: LiveNode): string {
  return `${toShown(label)} [${toShown(name)}]`;
}
