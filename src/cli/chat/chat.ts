/**
 * A chat on a terminal: what keys mean, what is at work, what waits to be said. It owns no terminal and no runtime:
 * those are `ChatScreen` and `ChatEngine`. What was typed is only ever taken away by its sending or by the person.
 */

import type { Clock } from "../../base/clock.ts";
import { toFailure } from "../../base/failure.ts";
import type { Ask } from "../../tools/gate/ask.ts";
import type { Io } from "../io.ts";
import type { FinishedLine, Picture } from "../screen/frame.ts";
import { type Typed, toChord } from "../screen/keys.ts";
import { PEN, plainRow, type Row } from "../screen/rows.ts";
import { cleanForTerminal, isStyled } from "../terminal.ts";
import { type CommandParts, runSlash } from "./chat-commands.ts";
import type { ChatScreen } from "./chat-screen.ts";
import { ChatTurn } from "./chat-turn.ts";
import { CompletionMenu } from "./completion-menu.ts";
import { applyKey } from "./edit-keys.ts";
import { Editor } from "./editor/editor.ts";
import { History } from "./editor/history.ts";
import { layOutEditor, moveVertically, toTextColumns } from "./editor/layout.ts";
import { appendHistory, readHistory } from "./history-file.ts";
import { HistorySearch } from "./history-search.ts";
import { LONG_MS, toNotification } from "./notify.ts";
import type { ChatEngine } from "./open-chat.ts";
import type { Picker } from "./picker.ts";
import { editElsewhere, runShell } from "./programs.ts";
import { Questions } from "./questions.ts";
import { readFileChange } from "./read-change.ts";
import { readSlash, SLASH_COMMANDS, type SlashCall } from "./slash.ts";
import { toStatusRow } from "./status-row.ts";
import { Transcript, wrapLine } from "./transcript.ts";
import { shareRows, toPicture } from "./view.ts";

export interface ChatSetup {
  readonly io: Io;
  readonly clock: Clock;
  readonly isVerbose: boolean;
  /** Opened while the person types already. */
  openEngine(ask: Ask): Promise<ChatEngine>;
  /** What is said first: words of the command line; undefined for none. */
  readonly firstWords?: string | undefined;
  /** The session to go on with. */
  readonly resume?: string | undefined;
}

const PROMPT: Row = [{ text: "> ", pen: PEN.busy }];
const MARGIN: Row = plainRow("  ");
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const TICK_MS = 200;
/** How long the first of two Ctrl-C counts. */
const TWICE_MS = 3000;

export class Chat {
  readonly #setup: ChatSetup;
  readonly #editor = new Editor();
  readonly #questions: Questions;
  readonly #menu: CompletionMenu;
  readonly #search: HistorySearch;
  #history = new History();
  #screen: ChatScreen | undefined;
  #engine: ChatEngine | undefined;
  #turn: ChatTurn | undefined;
  /** Of the turns that have ended. */
  #before = { tokens: 0, knownUsd: 0, unknownCalls: 0 };
  #contextUsed = 0;
  /** A command of the person's, or one of the chat, that is at work. */
  #deed: { readonly title: string; readonly stopping: AbortController; readonly startedAtMs: number } | undefined;
  #steered: string[] = [];
  #queue: string[] = [];
  #picker: Picker | undefined;
  /** Goes with the next words, for the model: output of commands, a summary. */
  #carried: string[] = [];
  #interruptedAtMs = Number.NEGATIVE_INFINITY;
  #note = "";
  #ticking: AbortController | undefined;
  #leave: (exitCode: number) => void = () => {};
  /** Resolves with the exit code when the person leaves. */
  readonly left: Promise<number>;

  constructor(setup: ChatSetup) {
    this.#setup = setup;
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#menu = new CompletionMenu(this.#editor, setup.io.cwd, () => this.#screen?.refresh());
    this.#search = new HistorySearch(this.#editor, () => this.#history);
    this.#questions = new Questions({
      readChange: (call) => readFileChange(call, setup.io.cwd),
      print: (lines) => this.#print(lines),
      columns: () => this.#screen?.columns ?? 80,
      onChange: (isAsked) => {
        if (isAsked) this.#notify("A tool call waits for your answer");
        this.#screen?.refresh("now");
      },
    });
  }

  /** The terminal is there: the chat can be typed into. The rest is loaded meanwhile. */
  async begin(screen: ChatScreen): Promise<void> {
    this.#screen = screen;
    screen.refresh("now");
    try {
      const engine = await this.#setup.openEngine(this.#questions.ask);
      this.#engine = engine;
      for (const warning of engine.warnings) this.say(warning);
      this.say(`model: ${engine.model.reason} · /help lists commands and keys`);
      this.#history = new History(await readHistory(engine.historyFile));
      const { resume, firstWords } = this.#setup;
      if (resume !== undefined) await this.#command({ name: "resume", rest: resume });
      if (firstWords !== undefined) await this.#send(firstWords);
      else this.#sendQueued();
    } catch (thrown) {
      this.say(toFailure(thrown).message, PEN.bad);
      this.#leave(1);
    }
    screen.refresh();
  }

  /** Ends what is at work, and says how to go on. */
  async end(): Promise<string> {
    this.#ticking?.abort();
    this.#turn?.stop();
    const id = this.#engine?.conversation.id;
    await this.#engine?.close();
    return id === undefined ? "" : `session: ${id} (offshoot chat --resume ${id})\n`;
  }

  onGone(): void {
    this.#leave(129);
  }

  onTyped(typed: Typed): void {
    this.#note = "";
    if (typed.type === "key") return this.#press(toChord(typed));
    const field = this.#questions.editor ?? (this.#search.isOpen ? this.#search.field : this.#editor);
    if (typed.type === "paste") field.paste(typed.text);
    else field.type(typed.text);
    if (this.#search.isOpen) this.#search.look();
    else if (field === this.#editor) this.#menu.look();
  }

  toPicture(): Picture {
    const columns = this.#screen?.columns ?? 80;
    const maxRows = this.#screen?.maxRows ?? 22;
    const field = this.#questions.editor ?? this.#editor;
    const room = { columns, prompt: PROMPT, margin: MARGIN };
    const menu = this.#toMenu(columns, maxRows);
    const activity = this.#toActivity(columns, Math.floor(maxRows / 3));
    const waiting = this.#toWaiting();
    const written = layOutEditor(field, field.folds, { ...room, maxRows: Math.floor(maxRows / 2) });
    const wanted = { menu: menu.length, activity: activity.length, waiting: waiting.length };
    const shares = shareRows(maxRows, { ...wanted, editor: written.rows.length });
    const editor = layOutEditor(field, field.folds, { ...room, maxRows: shares.editor });
    const open = this.#takeOpen(columns, shares.open);
    const status = this.#toStatus(columns);
    return toPicture({ open, activity, waiting, menu, editor, status }, shares, columns);
  }

  say(text: string, pen: string = PEN.dim): void {
    this.#print(wrapLine(cleanForTerminal(text), pen, this.#screen?.columns ?? 80));
  }

  #print(lines: readonly FinishedLine[]): void {
    // What the answer has finished stands before it.
    this.#takeOpen(this.#screen?.columns ?? 80, Number.POSITIVE_INFINITY);
    this.#screen?.print(lines);
  }

  #takeOpen(columns: number, maxOpen: number): readonly Row[] {
    const isPlain = !isStyled(this.#setup.io.stdout);
    const taken = this.#turn?.transcript.take({ columns, maxOpen, isStyled: !isPlain });
    if (taken && taken.finished.length > 0) this.#screen?.print(taken.finished);
    return taken?.open ?? [];
  }

  #toMenu(columns: number, maxRows: number): Row[] {
    if (this.#questions.editor) return this.#questions.toRows();
    if (this.#picker) return this.#picker.toRows(columns, Math.floor(maxRows / 2));
    if (this.#search.isOpen) return this.#search.toRows();
    return this.#menu.toRows(columns);
  }

  #toActivity(columns: number, maxRows: number): Row[] {
    const nowMs = this.#setup.clock.now();
    const sign = { text: `${SPINNER[Math.floor(nowMs / TICK_MS) % SPINNER.length]} `, pen: PEN.busy };
    if (this.#deed) {
      const seconds = Math.floor((nowMs - this.#deed.startedAtMs) / 1000);
      return [[sign, { text: this.#deed.title, pen: "" }, { text: ` · ${seconds} s`, pen: PEN.dim }]];
    }
    if (!this.#turn) return [];
    const [head = [], ...children] = this.#turn.transcript.toActivity(columns, Math.max(1, maxRows));
    const stopping = this.#turn.isStopping ? [{ text: " · stopping", pen: PEN.warn }] : [];
    return [[sign, ...head, ...stopping], ...children];
  }

  #toWaiting(): Row[] {
    const line = (sign: string, text: string): Row => [
      { text: `${sign} `, pen: PEN.warn },
      { text: cleanForTerminal(text).replaceAll("\n", " ⏎ "), pen: PEN.dim },
    ];
    return [
      ...this.#steered.map((text) => line("steering:", text)),
      ...this.#queue.map((text) => line("queued:", text)),
    ];
  }

  #toStatus(columns: number): Row {
    const engine = this.#engine;
    const turn = this.#turn;
    const { tokens, knownUsd, unknownCalls } = turn?.spent ?? { tokens: 0, knownUsd: 0, unknownCalls: 0 };
    const hint = turn ? "Enter steers · Tab queues · Esc stops" : "";
    return toStatusRow(
      {
        model: engine?.model.ref,
        isThinking: engine?.isThinking ?? false,
        contextUsed: turn?.contextUsed || this.#contextUsed,
        contextTokens: engine?.contextTokens,
        spent: {
          tokens: this.#before.tokens + tokens,
          knownUsd: this.#before.knownUsd + knownUsd,
          unknownCalls: this.#before.unknownCalls + unknownCalls,
        },
        maxUsd: engine?.maxUsd,
        hint: this.#note || hint,
      },
      columns,
    );
  }

  #press(chord: string): void {
    if (chord === "ctrl-c") return this.#interrupt();
    if (chord === "ctrl-z") return this.#screen?.suspend();
    if (this.#questions.editor) return this.#pressAnswer(this.#questions.editor, chord);
    if (this.#picker) return this.#pressPicker(this.#picker, chord);
    if (this.#search.isOpen && this.#search.press(chord)) return;
    if (this.#menu.press(chord)) return;
    const deed = this.#toDeed(chord);
    if (deed) deed();
    else if (applyKey(this.#editor, chord)) this.#menu.look();
  }

  #toDeed(chord: string): (() => void) | undefined {
    const deeds: Readonly<Record<string, () => void>> = {
      enter: () => this.#enter(),
      tab: () => this.#tab(),
      escape: () => this.#stop(),
      up: () => this.#moveUp(),
      down: () => this.#moveDown(),
      "ctrl-p": () => this.#moveUp(),
      "ctrl-n": () => this.#moveDown(),
      "ctrl-r": () => this.#search.begin(),
      "ctrl-g": () => void this.#editElsewhere(),
      "ctrl-l": () => this.#screen?.refresh("now"),
      "ctrl-d": () => (this.#editor.isEmpty ? this.#leave(0) : this.#editor.delete("right")),
    };
    return Object.hasOwn(deeds, chord) ? deeds[chord] : undefined;
  }

  #pressAnswer(editor: Editor, chord: string): void {
    if (chord === "enter") {
      const words = this.#questions.submit();
      if (words !== "") this.#giveBack([words]);
    } else if (chord === "escape") this.#stop();
    else applyKey(editor, chord);
  }

  #pressPicker(picker: Picker, chord: string): void {
    if (chord === "up" || chord === "ctrl-p") picker.move(-1);
    else if (chord === "down" || chord === "ctrl-n") picker.move(1);
    else if (chord === "enter" || chord === "escape") {
      this.#picker = undefined;
      if (chord === "enter") picker.choose();
    }
  }

  /** Once stops, or clears what is written, which stays in the history; twice leaves. */
  #interrupt(): void {
    const nowMs = this.#setup.clock.now();
    const isSecond = nowMs - this.#interruptedAtMs < TWICE_MS;
    if (isSecond) return this.#leave(this.#turn ? 130 : 0);
    this.#interruptedAtMs = nowMs;
    this.#note = "Ctrl-C again leaves";
    this.#picker = undefined;
    this.#search.end();
    if (this.#turn || this.#deed) return this.#stop();
    this.#history.add(this.#editor.whole);
    this.#editor.replace("");
    this.#menu.look();
  }

  #stop(): void {
    this.#deed?.stopping.abort();
    this.#turn?.stop();
    this.#questions.cancel();
    this.#giveBack([...this.#steered.splice(0), ...this.#queue.splice(0)]);
  }

  /** Words that nobody has heard, before those that are written now. */
  #giveBack(words: readonly string[]): void {
    if (words.length === 0) return;
    const now = this.#editor.isEmpty ? [] : [this.#editor.whole];
    this.#editor.replace([...words, ...now].join("\n"));
  }

  #moveUp(): void {
    const place = this.#vertical(-1);
    if (place !== undefined) return this.#editor.moveTo(place);
    const text = this.#history.back(this.#editor.whole);
    if (text !== undefined) this.#editor.replace(text);
  }

  #moveDown(): void {
    const place = this.#vertical(1);
    if (place !== undefined) return this.#editor.moveTo(place);
    const text = this.#history.forth();
    if (text !== undefined) this.#editor.replace(text);
  }

  #vertical(step: -1 | 1): number | undefined {
    const columns = toTextColumns({ columns: this.#screen?.columns ?? 80, prompt: PROMPT });
    return moveVertically(this.#editor, this.#editor.folds, { step, columns });
  }

  #enter(): void {
    const { text, caret } = this.#editor;
    if (caret > 0 && text[caret - 1] === "\\" && caret === text.length) {
      this.#editor.delete("left");
      return this.#editor.type("\n");
    }
    const words = this.#editor.whole;
    if (words.trim() === "") return;
    const call = readSlash(words);
    if (typeof call === "string") return this.say(call, PEN.warn);
    if (call) return this.#takeCommand(call);
    if (words.startsWith("!")) return this.#takeShell(words);
    this.#take();
    if (this.#turn) void this.#steer(words);
    else if (this.#engine && !this.#deed) void this.#send(words);
    else this.#queue.push(words);
  }

  #tab(): void {
    const words = this.#editor.whole;
    if (!this.#turn || words.trim() === "") return;
    this.#take();
    this.#queue.push(words);
  }

  /** The words are sent: they leave the editor, and the history has them. */
  #take(): void {
    const words = this.#editor.whole;
    this.#editor.replace("");
    this.#menu.look();
    if (this.#history.add(words) && this.#engine) void appendHistory(this.#engine.historyFile, words);
  }

  #takeCommand(call: SlashCall): void {
    const isBusy = this.#turn !== undefined || this.#deed !== undefined || !this.#engine;
    if (isBusy && !SLASH_COMMANDS[call.name].isAnytime) {
      this.#note = `/${call.name} waits until the run has ended; Esc stops it`;
      return;
    }
    if (!this.#engine && call.name !== "quit") return;
    this.#take();
    void this.#command(call);
  }

  async #command(call: SlashCall): Promise<void> {
    const engine = this.#engine;
    if (!engine) return this.#leave(0);
    const parts: CommandParts = {
      engine,
      cwd: this.#setup.io.cwd,
      say: (text) => this.say(text, ""),
      pick: (picker) => {
        this.#picker = picker;
      },
      askModel: async (words) => await this.#send(words),
      queue: (words) => void (this.#turn ? this.#queue.push(words) : this.#send(words)),
      carry: (text) => void this.#carried.push(text),
      write: (words) => this.#editor.replace(words),
      leave: () => this.#leave(0),
    };
    try {
      await runSlash(call, parts);
    } catch (thrown) {
      this.say(toFailure(thrown).message, PEN.bad);
    }
    this.#screen?.refresh("now");
  }

  async #steer(words: string): Promise<void> {
    this.#steered.push(words);
    try {
      await this.#turn?.steer(words);
    } catch {
      // It has just ended: what was meant for it is said next.
      if (this.#unsteer(words)) this.#queue.unshift(words);
      this.#sendQueued();
    }
  }

  #unsteer(words: string): boolean {
    const at = this.#steered.indexOf(words);
    if (at >= 0) this.#steered.splice(at, 1);
    return at >= 0;
  }

  #sendQueued(): void {
    const [next, ...rest] = this.#queue;
    if (this.#turn || this.#deed || !this.#engine || next === undefined) return;
    this.#queue = rest;
    void this.#send(next);
  }

  #showWords(words: string): void {
    const columns = this.#screen?.columns ?? 80;
    const lines = words.length > 4000 ? `${words.slice(0, 4000)}\n… (${words.length} characters)` : words;
    const [first, ...rest] = wrapLine(cleanForTerminal(lines), PEN.bold, columns - 2);
    this.#print([
      { row: [...PROMPT, ...(first?.row ?? [])] },
      ...rest.map(({ row }): FinishedLine => ({ row: [...MARGIN, ...row] })),
    ]);
  }

  /** A prompt, from its words to its end. Gives the last answer's text. Never rejects: the words come back. */
  async #send(words: string): Promise<string> {
    const engine = this.#engine;
    if (!engine) return "";
    this.#deed = { title: "starting", stopping: new AbortController(), startedAtMs: this.#setup.clock.now() };
    this.#tick();
    const carried = this.#carried.splice(0);
    try {
      const started = await engine.start(words, carried.join("\n\n"));
      this.#showWords(words);
      for (const note of started.notes) this.say(note);
      const transcript = this.#openTranscript();
      const nowMs = this.#setup.clock.now();
      this.#turn = new ChatTurn(started, { transcript, onNews: () => this.#screen?.refresh() }, nowMs);
      if (this.#deed.stopping.signal.aborted) this.#turn.stop();
      this.#deed = undefined;
      const run = await this.#turn.finish();
      await engine.conversation.settle(run);
      this.#endTurn();
      return (await run.result()).output_text;
    } catch (thrown) {
      this.#carried.unshift(...carried);
      this.say(toFailure(thrown).message, PEN.bad);
      this.#giveBack([words]);
      return "";
    } finally {
      this.#deed = undefined;
      this.#ticking?.abort();
      this.#screen?.refresh("now");
      this.#sendQueued();
    }
  }

  #openTranscript(): Transcript {
    return new Transcript({
      now: () => this.#setup.clock.now(),
      isVerbose: this.#setup.isVerbose,
      onHeard: (text) => {
        this.#unsteer(text);
        this.#showWords(text);
      },
      wasShown: (call) => this.#questions.wasShown(call),
    });
  }

  #endTurn(): void {
    const turn = this.#turn;
    if (!turn) return;
    this.#takeOpen(this.#screen?.columns ?? 80, 1);
    this.#contextUsed = turn.contextUsed || this.#contextUsed;
    const { tokens, knownUsd, unknownCalls } = turn.spent;
    this.#before = {
      tokens: this.#before.tokens + tokens,
      knownUsd: this.#before.knownUsd + knownUsd,
      unknownCalls: this.#before.unknownCalls + unknownCalls,
    };
    this.#turn = undefined;
    // What came too late for the run is said next.
    this.#queue.unshift(...this.#steered.splice(0));
    if (this.#setup.clock.now() - turn.startedAtMs > LONG_MS) this.#notify("The run has ended");
  }

  #takeShell(words: string): void {
    const command = words.slice(1).trim();
    if (command === "") return;
    if (this.#deed) {
      this.#note = "A command is at work; Esc stops it";
      return;
    }
    this.#take();
    void this.#runShell(command);
  }

  async #runShell(command: string): Promise<void> {
    const stopping = new AbortController();
    this.#showWords(`!${command}`);
    this.#deed = { title: cleanForTerminal(`!${command}`), stopping, startedAtMs: this.#setup.clock.now() };
    this.#tick();
    let rest = "";
    const onText = (piece: string): void => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      this.#print(lines.map((line) => toOutputLine(line)));
    };
    try {
      const { told, code } = await runShell(command, this.#setup.io, { onText, signal: stopping.signal });
      if (rest !== "") this.#print([toOutputLine(rest)]);
      if (code !== 0) this.say(`exit code ${code ?? "none: it was stopped"}`, PEN.warn);
      this.#carried.push(told);
    } catch (thrown) {
      this.say(toFailure(thrown).message, PEN.bad);
    } finally {
      this.#deed = undefined;
      if (!this.#turn) this.#ticking?.abort();
      this.#screen?.refresh("now");
      this.#sendQueued();
    }
  }

  async #editElsewhere(): Promise<void> {
    try {
      const text = await this.#screen?.lend(() => editElsewhere(this.#editor.whole, this.#setup.io));
      if (text !== undefined) this.#editor.replace(text);
    } catch (thrown) {
      this.say(toFailure(thrown).message, PEN.bad);
    }
    this.#screen?.refresh("now");
  }

  #notify(text: string): void {
    this.#screen?.signal(toNotification(text, this.#setup.io.env));
  }

  /** Draws again while something is at work: its time goes on. */
  #tick(): void {
    this.#ticking?.abort();
    const ticking = new AbortController();
    this.#ticking = ticking;
    const { clock } = this.#setup;
    const again = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(TICK_MS, ticking.signal);
        this.#screen?.refresh();
      }
    };
    again().catch(() => {});
  }
}

function toOutputLine(line: string): FinishedLine {
  return { row: plainRow(cleanForTerminal(line).replaceAll("\t", "    ")), isLong: true };
}
