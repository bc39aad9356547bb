/**
 * The work of a chat and what waits for it: one prompt at a time, words that steer it, words for after it, and the
 * person's commands. Nothing here rejects: a failure prints a line, and the words come back.
 */

import type { Clock } from "../../base/clock.ts";
import { toFailure } from "../../base/failure.ts";
import { type CostRow, readCosts } from "../../delegation/ledger/costs.ts";
import type { Io } from "../io.ts";
import type { FinishedLine } from "../screen/frame.ts";
import { PEN, plainRow } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";
import { ChatTurn } from "./chat-turn.ts";
import { LONG_MS } from "./notify.ts";
import type { ChatEngine } from "./open-chat.ts";
import { runShell } from "./programs.ts";
import type { Spent } from "./status-row.ts";
import { Transcript, type TranscriptOptions } from "./transcript.ts";

export const TICK_MS = 200;
/** A tool may need some time to stop. A person who leaves does not wait for one that never does. */
const END_MS = 5000;

export interface WorkParts {
  readonly io: Pick<Io, "env" | "cwd">;
  readonly clock: Clock;
  readonly isVerbose: boolean;
  readonly takeShown: TranscriptOptions["takeShown"];
  print(lines: readonly FinishedLine[]): void;
  say(text: string, pen?: string): void;
  /** Prints the person's words. */
  showWords(words: string): void;
  /** Puts words that no run has read back into the editor. */
  giveBack(words: readonly string[]): void;
  refresh(when?: "soon" | "now"): void;
  notify(text: string): void;
}

const NOTHING_SPENT: Spent = { tokens: 0, knownUsd: 0, unknownCalls: 0 };

/** A command of the person, or the start of a run. */
interface Deed {
  readonly title: string;
  readonly isStart: boolean;
  readonly stopping: AbortController;
  readonly startedAtMs: number;
}

export class ChatWork {
  readonly #parts: WorkParts;
  #engine: ChatEngine | undefined;
  #turn: ChatTurn | undefined;
  #deed: Deed | undefined;
  /** True while a command changes the session that the next words go to. */
  #isHeld = false;
  #idle: (() => void) | undefined;
  /** The figures of runs of this conversation that have ended. */
  #before = NOTHING_SPENT;
  #contextUsed = 0;
  #steered: string[] = [];
  #queue: string[] = [];
  /** Text for the model that goes with the next words: output of commands, a summary. */
  #carried: string[] = [];
  #ticking: AbortController | undefined;
  /** Resolves when the last prompt has ended completely. Never rejects. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  get turn(): ChatTurn | undefined {
    return this.#turn;
  }

  get deed(): Deed | undefined {
    return this.#deed;
  }

  get isBusy(): boolean {
    return this.#turn !== undefined || this.#deed !== undefined || this.#isHeld;
  }

  get steered(): readonly string[] {
    return this.#steered;
  }

  get queued(): readonly string[] {
    return this.#queue;
  }

  get contextUsed(): number {
    return this.#turn?.contextUsed || this.#contextUsed;
  }

  get spent(): Spent {
    return addSpent(this.#before, this.#turn?.spent);
  }

  /** Sets the engine, and sends the words that waited for it. */
  use(engine: ChatEngine): void {
    this.#engine = engine;
  }

  /**
   * For another conversation: its cost so far is in the record, and how full its window is, is not yet known.
   */
  async startOver({ record, conversation }: ChatEngine): Promise<void> {
    this.#contextUsed = 0;
    this.#before = toSpent(await readCosts(record, [...conversation.runs], "model"));
  }

  /** Words wait until the work is done: they are meant for the session that it leads to. */
  async hold(work: () => Promise<void>): Promise<void> {
    this.#isHeld = true;
    try {
      await work();
    } finally {
      this.#isHeld = false;
      this.sendQueued();
    }
  }

  carry(text: string): void {
    this.#carried.push(text);
  }

  queue(words: string): void {
    this.#queue.push(words);
    this.sendQueued();
  }

  /**
   * Steers the run at work, or begins one. Before the runtime is loaded, and during a command, the words wait.
   */
  tell(words: string): void {
    if (!this.#isHeld && (this.#turn || this.#deed?.isStart)) this.#steer(words);
    else this.queue(words);
  }

  stop(): void {
    this.#deed?.stopping.abort();
    this.#turn?.stop();
    this.#giveBackWaiting();
  }

  /** The person decides again about words that waited. */
  #giveBackWaiting(): void {
    this.#parts.giveBack([...this.#steered.splice(0), ...this.#queue.splice(0)]);
  }

  /**
   * Stops the work, gives back words that were not read, and resolves when the record has the ending. A run that does
   * not stop in time is left interrupted.
   */
  async end(): Promise<void> {
    // Nothing starts after this.
    this.#engine = undefined;
    this.stop();
    const late = new AbortController();
    const inTime = this.#parts.clock.sleep(END_MS, late.signal).catch(() => {});
    await Promise.race([this.#sending, inTime]);
    late.abort();
    this.#ticking?.abort();
  }

  /** Words that are typed while a run starts wait for it. */
  #steer(words: string): void {
    this.#steered.push(words);
    if (this.#turn) void this.#steerTurn(this.#turn, words);
  }

  async #steerTurn(turn: ChatTurn, words: string): Promise<void> {
    try {
      await turn.steer(words);
    } catch {
      // The run has just ended: words meant for it become the next prompt.
      if (this.#unsteer(words)) this.#queue.unshift(words);
      this.sendQueued();
    }
  }

  #unsteer(words: string): boolean {
    const at = this.#steered.indexOf(words);
    if (at >= 0) this.#steered.splice(at, 1);
    return at >= 0;
  }

  /** Calls `idle` once, when the work has ended and no queued words follow it. The last call counts. */
  afterwards(idle: (() => void) | undefined): void {
    this.#idle = idle;
  }

  sendQueued(): void {
    if (this.isBusy || !this.#engine) return;
    const [next, ...rest] = this.#queue;
    if (next === undefined) {
      const idle = this.#idle;
      this.#idle = undefined;
      return idle?.();
    }
    this.#queue = rest;
    void this.send(next);
  }

  /**
   * Runs a prompt, from its words to its end. Resolves with the answer, empty if the run did not complete. Never
   * rejects: unsent words come back.
   */
  async send(words: string): Promise<string> {
    if (!this.#engine) return "";
    const sent = this.#send(words, this.#engine);
    this.#sending = sent;
    return await sent;
  }

  async #send(words: string, engine: ChatEngine): Promise<string> {
    this.#tick();
    try {
      const turn = await this.#begin(words, engine);
      return turn ? await this.#follow(turn, engine) : "";
    } finally {
      this.#parts.refresh("now");
      this.sendQueued();
    }
  }

  /** Undefined if the run could not be started: the words are in the editor again. */
  async #begin(words: string, engine: ChatEngine): Promise<ChatTurn | undefined> {
    const stopping = new AbortController();
    const nowMs = this.#parts.clock.now();
    this.#deed = { title: "starting", isStart: true, stopping, startedAtMs: nowMs };
    const carried = this.#carried.splice(0);
    try {
      const started = await engine.start(words, carried.join("\n\n"));
      this.#parts.showWords(words);
      for (const note of started.notes) this.#parts.say(note);
      const transcript = this.#openTranscript();
      const onNews = (): void => this.#parts.refresh();
      const turn = new ChatTurn(started, { transcript, onNews }, this.#parts.clock.now());
      this.#turn = turn;
      if (stopping.signal.aborted) turn.stop();
      for (const early of this.#steered) void this.#steerTurn(turn, early);
      return turn;
    } catch (thrown) {
      this.#carried.unshift(...carried);
      this.#parts.say(toFailure(thrown).message, PEN.bad);
      this.#parts.giveBack([words, ...this.#steered.splice(0)]);
      return undefined;
    } finally {
      this.#deed = undefined;
    }
  }

  async #follow(turn: ChatTurn, engine: ChatEngine): Promise<string> {
    try {
      const run = await turn.finish();
      await engine.conversation.settle(run);
      const { ending, output_text } = await run.result();
      if (ending === "failed") this.#giveBackWaiting();
      return ending === "completed" ? output_text : "";
    } catch (thrown) {
      this.#parts.say(toFailure(thrown).message, PEN.bad);
      this.#giveBackWaiting();
      return "";
    } finally {
      this.#endTurn(turn);
    }
  }

  #openTranscript(): Transcript {
    return new Transcript({
      now: () => this.#parts.clock.now(),
      isVerbose: this.#parts.isVerbose,
      onHeard: (text) => {
        this.#unsteer(text);
        this.#parts.showWords(text);
      },
      takeShown: this.#parts.takeShown,
    });
  }

  #endTurn(turn: ChatTurn): void {
    this.#parts.print([]);
    this.#contextUsed = turn.contextUsed || this.#contextUsed;
    this.#before = addSpent(this.#before, turn.spent);
    this.#turn = undefined;
    // Words that came too late for the run become the next prompt.
    this.#queue.unshift(...this.#steered.splice(0));
    if (this.#parts.clock.now() - turn.startedAtMs > LONG_MS)
      this.#parts.notify("The run has ended");
  }

  async runShell(command: string): Promise<void> {
    const stopping = new AbortController();
    this.#parts.showWords(`!${command}`);
    this.#deed = {
      title: cleanForTerminal(`!${command}`),
      isStart: false,
      stopping,
      startedAtMs: this.#parts.clock.now(),
    };
    this.#tick();
    let rest = "";
    const onText = (piece: string): void => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      this.#parts.print(lines.map((line) => toOutputLine(line)));
    };
    try {
      const { told, code } = await runShell(command, this.#parts.io, {
        onText,
        signal: stopping.signal,
      });
      if (rest !== "") this.#parts.print([toOutputLine(rest)]);
      if (code !== 0) this.#parts.say(`exit code ${code ?? "none: it was stopped"}`, PEN.warn);
      this.#carried.push(told);
    } catch (thrown) {
      this.#parts.say(toFailure(thrown).message, PEN.bad);
    } finally {
      this.#deed = undefined;
      this.#parts.refresh("now");
      this.sendQueued();
    }
  }

  /** Redraws while something is at work, because its time grows. */
  #tick(): void {
    if (this.#ticking) return;
    const ticking = new AbortController();
    this.#ticking = ticking;
    const again = async (): Promise<void> => {
      do {
        await this.#parts.clock.sleep(TICK_MS, ticking.signal);
        this.#parts.refresh();
      } while (this.#turn || this.#deed);
    };
    const end = (): void => {
      this.#ticking = undefined;
    };
    again().then(end, end);
  }
}

function toSpent(rows: readonly CostRow[]): Spent {
  return rows.reduce(
    (sum, row) =>
      addSpent(sum, {
        tokens: (row.input_tokens ?? 0) + (row.output_tokens ?? 0),
        knownUsd: row.known_usd ?? 0,
        unknownCalls: row.unknown_calls,
      }),
    NOTHING_SPENT,
  );
}

function addSpent(one: Spent, other: Spent | undefined): Spent {
  if (!other) return one;
  return {
    tokens: one.tokens + other.tokens,
    knownUsd: one.knownUsd + other.knownUsd,
    unknownCalls: one.unknownCalls + other.unknownCalls,
  };
}

function toOutputLine(line: string): FinishedLine {
  return { row: plainRow(cleanForTerminal(line).replaceAll("\t", "    ")), isLong: true };
}
