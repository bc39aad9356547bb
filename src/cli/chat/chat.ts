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
import { toActivityRows, toWaitingRows } from "./activity-rows.ts";
import { type CommandParts, runSlash } from "./chat-commands.ts";
import type { ChatScreen } from "./chat-screen.ts";
import { ChatWork } from "./chat-work.ts";
import { CompletionMenu } from "./completion-menu.ts";
import { applyKey } from "./edit-keys.ts";
import { Editor } from "./editor/editor.ts";
import { History } from "./editor/history.ts";
import { layOutEditor, moveVertically, toTextColumns } from "./editor/layout.ts";
import { appendHistory, readHistory } from "./history-file.ts";
import { HistorySearch } from "./history-search.ts";
import { toNotification } from "./notify.ts";
import type { ChatEngine } from "./open-chat.ts";
import type { Picker } from "./picker.ts";
import { editElsewhere } from "./programs.ts";
import { Questions } from "./questions.ts";
import { readFileChange } from "./read-change.ts";
import { readSlash, SLASH_COMMANDS, type SlashCall } from "./slash.ts";
import { toStatusRow } from "./status-row.ts";
import { wrapLine } from "./transcript.ts";
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
  readonly #work: ChatWork;
  #picker: Picker | undefined;
  #interruptedAtMs = Number.NEGATIVE_INFINITY;
  #note = "";
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
    this.#work = new ChatWork({
      ...setup,
      wasShown: (call) => this.#questions.wasShown(call),
      print: (lines) => this.#print(lines),
      say: (text, pen) => this.say(text, pen),
      showWords: (words) => this.#showWords(words),
      giveBack: (words) => this.#giveBack(words),
      refresh: (when) => this.#screen?.refresh(when),
      notify: (text) => this.#notify(text),
    });
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
      this.#work.use(engine);
      for (const warning of engine.warnings) this.say(warning);
      this.say(`model: ${engine.model.reason} · /help lists commands and keys`);
      this.#history = new History(await readHistory(engine.historyFile));
      const { resume, firstWords } = this.#setup;
      if (resume !== undefined) await this.#command({ name: "resume", rest: resume });
      if (firstWords !== undefined) this.#work.tell(firstWords);
      this.#work.sendQueued();
    } catch (thrown) {
      this.say(toFailure(thrown).message, PEN.bad);
      this.#leave(1);
    }
    screen.refresh();
  }

  /** Ends what is at work, and says how to go on. */
  async end(): Promise<string> {
    this.#work.end();
    const id = this.#engine?.conversation.id;
    await this.#engine?.close();
    return id === undefined ? "" : `session: ${id} (offshoot chat --session ${id})\n`;
  }

  onGone(): void {
    this.#leave(129);
  }

  onTyped(typed: Typed): void {
    this.#note = "";
    if (typed.type === "key") return this.#press(toChord(typed));
    const field =
      this.#questions.editor ?? (this.#search.isOpen ? this.#search.field : this.#editor);
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
    const nowMs = this.#setup.clock.now();
    const activity = toActivityRows(this.#work, {
      columns,
      maxRows: Math.floor(maxRows / 3),
      nowMs,
    });
    const waiting = toWaitingRows(this.#work);
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
    const taken = this.#work.turn?.transcript.take({ columns, maxOpen, isStyled: !isPlain });
    if (taken && taken.finished.length > 0) this.#screen?.print(taken.finished);
    return taken?.open ?? [];
  }

  #toMenu(columns: number, maxRows: number): Row[] {
    if (this.#questions.editor) return this.#questions.toRows();
    if (this.#picker) return this.#picker.toRows(columns, Math.floor(maxRows / 2));
    if (this.#search.isOpen) return this.#search.toRows();
    return this.#menu.toRows(columns);
  }

  #toStatus(columns: number): Row {
    const engine = this.#engine;
    const { turn, spent, contextUsed } = this.#work;
    const hint = turn ? "Enter steers · Tab queues · Esc stops" : "";
    return toStatusRow(
      {
        model: engine?.model.ref,
        isThinking: engine?.isThinking ?? false,
        contextUsed,
        contextTokens: engine?.contextTokens,
        spent,
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
    if (isSecond) return this.#leave(this.#work.turn ? 130 : 0);
    this.#interruptedAtMs = nowMs;
    this.#note = "Ctrl-C again leaves";
    this.#picker = undefined;
    this.#search.end();
    if (this.#work.isBusy) return this.#stop();
    this.#history.add(this.#editor.whole);
    this.#editor.replace("");
    this.#menu.look();
  }

  #stop(): void {
    this.#work.stop();
    this.#questions.cancel();
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
    this.#work.tell(words);
  }

  #tab(): void {
    const words = this.#editor.whole;
    if (!this.#work.turn || words.trim() === "") return;
    this.#take();
    this.#work.queue(words);
  }

  /** The words are sent: they leave the editor, and the history has them. */
  #take(): void {
    const words = this.#editor.whole;
    this.#editor.replace("");
    this.#menu.look();
    if (this.#history.add(words) && this.#engine)
      void appendHistory(this.#engine.historyFile, words);
  }

  #takeCommand(call: SlashCall): void {
    const isBusy = this.#work.isBusy || !this.#engine;
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
      askModel: (words) => this.#work.send(words),
      queue: (words) => this.#work.queue(words),
      carry: (text) => this.#work.carry(text),
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

  #showWords(words: string): void {
    const columns = this.#screen?.columns ?? 80;
    const lines =
      words.length > 4000 ? `${words.slice(0, 4000)}\n… (${words.length} characters)` : words;
    const [first, ...rest] = wrapLine(cleanForTerminal(lines), PEN.bold, columns - 2);
    this.#print([
      { row: [...PROMPT, ...(first?.row ?? [])] },
      ...rest.map(({ row }): FinishedLine => ({ row: [...MARGIN, ...row] })),
    ]);
  }

  #takeShell(words: string): void {
    const command = words.slice(1).trim();
    if (command === "") return;
    if (this.#work.deed) {
      this.#note = "A command is at work; Esc stops it";
      return;
    }
    this.#take();
    void this.#work.runShell(command);
  }

  async #editElsewhere(): Promise<void> {
    try {
      const text = await this.#screen?.lend(() =>
        editElsewhere(this.#editor.whole, this.#setup.io),
      );
      if (text !== undefined) this.#editor.replace(text);
    } catch (thrown) {
      this.say(toFailure(thrown).message, PEN.bad);
    }
    this.#screen?.refresh("now");
  }

  #notify(text: string): void {
    this.#screen?.signal(toNotification(text, this.#setup.io.env));
  }
}
