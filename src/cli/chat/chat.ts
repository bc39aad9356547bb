/**
 * A chat on a terminal: the meaning of keys, the work in progress, the words that wait. It owns no terminal and no
 * runtime: those are `ChatScreen` and `ChatEngine`. Typed text leaves the editor only when it is sent or when the
 * person removes it.
 */

import type { Clock } from "../../base/clock.ts";
import { toFailure } from "../../base/failure.ts";
import type { Ask } from "../../tools/gate/ask.ts";
import type { Io } from "../io.ts";
import type { FinishedLine, Picture } from "../screen/frame.ts";
import { type Typed, toChord } from "../screen/keys.ts";
import { PEN, type Row } from "../screen/rows.ts";
import { cleanForTerminal, isStyled } from "../terminal.ts";
import { type CommandParts, runSlash } from "./chat-commands.ts";
import { toChatPicture } from "./chat-picture.ts";
import { toSaidLines } from "./chat-rows.ts";
import type { ChatScreen } from "./chat-screen.ts";
import { ChatWork } from "./chat-work.ts";
import { toDefinitionLines } from "./definition-lines.ts";
import { applyKey } from "./edit-keys.ts";
import type { Editor } from "./editor/editor.ts";
import { toNotification } from "./notify.ts";
import type { ChatEngine } from "./open-chat.ts";
import type { Picker } from "./picker.ts";
import { editElsewhere } from "./programs.ts";
import { PromptField } from "./prompt-field.ts";
import { Questions } from "./questions.ts";
import { readFileChange } from "./read-change.ts";
import { readSlash, SLASH_COMMANDS, type SlashCall } from "./slash.ts";
import { wrapLine } from "./transcript.ts";

export interface ChatSetup {
  readonly io: Io;
  readonly clock: Clock;
  readonly isVerbose: boolean;
  /** Opened while the person already types. `tell` prints lines for standard error here. */
  openEngine(ask: Ask, tell: (line: string) => void): Promise<ChatEngine>;
  /** The first prompt: words of the command line; undefined for none. */
  readonly firstWords?: string | undefined;
  /** The session to continue. */
  readonly resume?: string | undefined;
}

/** How long the first of two Ctrl-C counts. */
const TWICE_MS = 3000;
/** A key that follows sooner belongs to a sentence that the person writes: it answers nothing. */
const PAUSE_MS = 1000;
/** Ctrl-D on an empty answer. */
const STILL_OPEN = "Not answered. Ctrl-C twice leaves";

export class Chat {
  readonly #setup: ChatSetup;
  readonly #field: PromptField;
  readonly #questions: Questions;
  #screen: ChatScreen | undefined;
  #engine: ChatEngine | undefined;
  /** True after the person has left, maybe before the engine was loaded. */
  #isEnded = false;
  readonly #work: ChatWork;
  #picker: Picker | undefined;
  #interruptedAtMs = Number.NEGATIVE_INFINITY;
  /** When the person last typed into the editor. */
  #typedAtMs = Number.NEGATIVE_INFINITY;
  #note = "";
  #leave: (exitCode: number) => void = () => {};
  /** Resolves with the exit code when the person leaves. */
  readonly left: Promise<number>;

  constructor(setup: ChatSetup) {
    this.#setup = setup;
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#field = new PromptField({
      cwd: setup.io.cwd,
      columns: () => this.#columns,
      onChange: () => this.#screen?.refresh(),
    });
    this.#work = new ChatWork({
      ...setup,
      takeShown: (call) => this.#questions.takeShown(call),
      print: (lines) => this.#print(lines),
      say: (text, pen) => this.say(text, pen),
      showWords: (words) => this.#showWords(words),
      giveBack: (words) => this.#field.giveBack(words),
      refresh: (when) => this.#screen?.refresh(when),
      notify: (text) => this.#notify(text),
    });
    this.#questions = new Questions({
      readChange: (call) => readFileChange(call, setup.io.cwd),
      columns: () => this.#columns,
      print: (lines) => this.#print(lines),
      onChange: (isAsked) => {
        if (isAsked) this.#notify("A tool call waits for your answer");
        this.#screen?.refresh("now");
      },
    });
  }

  /** Called when the terminal is ready: the person can type. The rest is loaded meanwhile. */
  async begin(screen: ChatScreen): Promise<void> {
    this.#screen = screen;
    const { firstWords } = this.#setup;
    // Before any words that are typed meanwhile.
    if (firstWords !== undefined) this.#work.queue(firstWords);
    screen.refresh("now");
    try {
      const tell = (line: string): void => this.say(line);
      const engine = await this.#setup.openEngine(this.#questions.ask, tell);
      if (this.#isEnded) return await engine.close();
      // Words that are typed meanwhile wait until their session is known.
      await this.#work.hold(() => this.#use(engine));
    } catch (thrown) {
      this.say(toFailure(thrown).message, PEN.bad);
      this.#leave(1);
    }
    screen.refresh();
  }

  async #use(engine: ChatEngine): Promise<void> {
    this.#engine = engine;
    this.#work.use(engine);
    for (const warning of engine.warnings) this.say(warning);
    this.say(`model: ${engine.model.reason} · /help lists commands and keys`);
    if (engine.historyFile !== undefined) await this.#field.open(engine.historyFile);
    const { resume } = this.#setup;
    if (resume !== undefined) await this.#command({ name: "resume", rest: resume });
  }

  /** Ends the work, keeps unsent words, and returns a line that says how to continue. */
  async end(): Promise<string> {
    this.#isEnded = true;
    await this.#work.end();
    // A session that is not stored ends with its chat.
    const isKept = this.#engine?.historyFile !== undefined;
    const id = isKept ? this.#engine?.conversation.id : undefined;
    const unsent = await this.#field.keep();
    await this.#engine?.close();
    const words = unsent === "" ? "" : `not sent: ${unsent}\n`;
    return id === undefined ? words : `${words}session: ${id} (offshoot chat --session ${id})\n`;
  }

  onGone(): void {
    this.#leave(129);
  }

  onTyped(typed: Typed): void {
    this.#note = "";
    if (typed.type === "key") return this.#press(toChord(typed));
    const answer = this.#answer;
    if (!answer) {
      this.#field.write(typed);
      this.#typedAtMs = this.#setup.clock.now();
    } else if (typed.type === "paste") answer.paste(typed.text);
    else answer.type(typed.text);
  }

  /** The editor for an answer. A question in the middle of a sentence waits for a pause. */
  get #answer(): Editor | undefined {
    const sinceMs = this.#setup.clock.now() - this.#typedAtMs;
    const isWriting = sinceMs < PAUSE_MS && !this.#field.editor.isEmpty;
    return isWriting ? undefined : this.#questions.editor;
  }

  toPicture(): Picture {
    const moment = {
      work: this.#work,
      field: this.#field,
      questions: this.#questions,
      picker: this.#picker,
      answer: this.#answer,
      engine: this.#engine,
      note: this.#note,
      nowMs: this.#setup.clock.now(),
    };
    return toChatPicture(moment, {
      columns: this.#columns,
      maxRows: this.#screen?.maxRows ?? 22,
      takeOpen: (columns, maxRows) => this.#takeOpen(columns, maxRows),
    });
  }

  get #columns(): number {
    return this.#screen?.columns ?? 80;
  }

  say(text: string, pen: string = PEN.dim): void {
    this.#print(wrapLine(cleanForTerminal(text), pen, this.#columns));
  }

  #print(lines: readonly FinishedLine[]): void {
    // Finished text of the answer is printed first.
    this.#takeOpen(this.#columns, Number.POSITIVE_INFINITY);
    this.#screen?.print(lines);
  }

  #takeOpen(columns: number, maxOpen: number): readonly Row[] {
    const isPlain = !isStyled(this.#setup.io.stdout);
    const taken = this.#work.turn?.transcript.take({ columns, maxOpen, isStyled: !isPlain });
    if (taken && taken.finished.length > 0) this.#screen?.print(taken.finished);
    return taken?.open ?? [];
  }

  #press(chord: string): void {
    if (chord === "ctrl-c") return this.#interrupt();
    if (chord === "ctrl-z") return this.#screen?.suspend();
    const answer = this.#answer;
    if (answer) return this.#pressAnswer(answer, chord);
    if (this.#picker) return this.#pressPicker(this.#picker, chord);
    if (this.#field.pressHelp(chord)) return;
    const deed = this.#toDeed(chord);
    if (deed) deed();
    else this.#field.press(chord);
  }

  #toDeed(chord: string): (() => void) | undefined {
    const deeds: Readonly<Record<string, () => void>> = {
      enter: () => this.#enter(),
      tab: () => this.#tab(),
      escape: () => this.#stop(),
      "ctrl-g": () => void this.#editElsewhere(),
      "ctrl-l": () => this.#screen?.refresh("now"),
      "ctrl-d": () => this.#leaveOrDelete(this.#field.editor),
    };
    return Object.hasOwn(deeds, chord) ? deeds[chord] : undefined;
  }

  #pressAnswer(editor: Editor, chord: string): void {
    if (chord === "enter") {
      const words = this.#questions.submit();
      if (words !== "") this.#field.add(words);
    } else if (chord === "escape") this.#stop();
    // Leaving would end the run for a key that also deletes: the question stays open.
    else if (chord === "ctrl-d" && editor.isEmpty) this.#note = STILL_OPEN;
    else applyKey(editor, chord);
  }

  #pressPicker(picker: Picker, chord: string): void {
    if (chord === "up" || chord === "ctrl-p") picker.move(-1);
    else if (chord === "down" || chord === "ctrl-n") picker.move(1);
    else if (chord === "enter" || chord === "escape") {
      this.#picker = undefined;
      if (chord === "enter") void this.#work.hold(() => this.#attempt(() => picker.choose()));
    }
  }

  /** The first Ctrl-C stops the run, or clears the editor (the history has its text); two leave. */
  #interrupt(): void {
    const nowMs = this.#setup.clock.now();
    const isSecond = nowMs - this.#interruptedAtMs < TWICE_MS;
    if (isSecond) return this.#leave(this.#work.turn ? 130 : 0);
    this.#interruptedAtMs = nowMs;
    this.#note = "Ctrl-C again leaves";
    this.#picker = undefined;
    this.#field.endSearch();
    this.#work.afterwards(undefined);
    if (this.#work.isBusy) return this.#stop();
    this.#field.clear();
  }

  #leaveOrDelete(editor: Editor): void {
    if (editor.isEmpty) this.#leave(0);
    else editor.delete("right");
  }

  #stop(): void {
    this.#work.stop();
    this.#questions.cancel();
  }

  #enter(): void {
    const { editor } = this.#field;
    if (editor.text.endsWith("\\") && editor.caret === editor.text.length) {
      editor.delete("left");
      return editor.type("\n");
    }
    const words = editor.whole;
    if (words.trim() === "") return;
    const call = readSlash(words);
    if (typeof call === "string") return this.say(call, PEN.warn);
    if (call) return this.#takeCommand(call);
    if (words.startsWith("!")) return this.#takeShell(words);
    this.#field.clear();
    this.#work.tell(words);
  }

  #tab(): void {
    const words = this.#field.editor.whole;
    if (!this.#work.turn || words.trim() === "") return;
    this.#field.clear();
    this.#work.queue(words);
  }

  #takeCommand(call: SlashCall): void {
    if (call.name === "quit") return this.#leave(0);
    if (!this.#engine) {
      this.#note = "starting; try again in a moment";
      return;
    }
    if (this.#work.isBusy && !SLASH_COMMANDS[call.name].isAnytime) {
      const words = this.#field.editor.whole;
      this.#work.afterwards(() => void (this.#field.editor.whole === words && this.#enter()));
      this.#note = `/${call.name} waits until the run has ended; Esc stops it`;
      return;
    }
    this.#print(toSaidLines(this.#field.editor.whole, this.#columns, PEN.dim));
    this.#field.clear();
    const run = (): Promise<void> => this.#command(call);
    void (SLASH_COMMANDS[call.name].isAnytime ? run() : this.#work.hold(run));
  }

  async #command(call: SlashCall): Promise<void> {
    const engine = this.#engine;
    if (!engine) return;
    const parts: CommandParts = {
      engine,
      cwd: this.#setup.io.cwd,
      say: (text) => this.say(text, ""),
      define: (rows) => this.#print(toDefinitionLines(rows, this.#columns)),
      pick: (picker) => {
        this.#picker = picker;
      },
      askModel: (words) => this.#work.send(words),
      queue: (words) => this.#work.queue(words),
      carry: (text) => this.#work.carry(text),
      write: (words) => this.#field.editor.replace(words),
      moved: () => this.#work.startOver(engine),
      leave: () => this.#leave(0),
    };
    await this.#attempt(() => runSlash(call, parts));
  }

  /** A failure prints a line, and the chat continues. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      this.say(toFailure(thrown).message, PEN.bad);
    }
    this.#screen?.refresh("now");
  }

  #showWords(words: string): void {
    this.#print(toSaidLines(words, this.#columns, PEN.bold));
  }

  #takeShell(words: string): void {
    const command = words.slice(1).trim();
    if (command === "") return;
    if (this.#work.deed) {
      this.#note = "A command is at work; Esc stops it";
      return;
    }
    this.#field.clear();
    void this.#work.runShell(command);
  }

  async #editElsewhere(): Promise<void> {
    const edit = (): Promise<string> => editElsewhere(this.#field.editor.whole, this.#setup.io);
    await this.#attempt(async () => {
      const text = await this.#screen?.lend(edit);
      if (text !== undefined) this.#field.editor.replace(text);
    });
  }

  #notify(text: string): void {
    this.#screen?.signal(toNotification(text, this.#setup.io.env));
  }
}
