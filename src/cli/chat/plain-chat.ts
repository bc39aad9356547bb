/**
 * A chat in plain lines, for screen readers, for terminals that cannot draw and for pipes: nothing is overwritten,
 * nothing moves, no colours. Each line that is read is a prompt. A long silence is reported every half minute.
 */

import { toFailure } from "../../base/failure.ts";
import type { Ask } from "../../tools/gate/ask.ts";
import { createAskOnTerminal } from "../ask-on-terminal.ts";
import { toElapsed } from "../output/amounts.ts";
import type { FinishedLine } from "../screen/frame.ts";
import { textOf } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";
import type { ChatSetup } from "./chat.ts";
import { runSlash } from "./chat-commands.ts";
import { ChatTurn } from "./chat-turn.ts";
import type { ChatEngine } from "./open-chat.ts";
import type { Picker, PickerRow } from "./picker.ts";
import { PlainLines } from "./plain-lines.ts";
import { runShell } from "./programs.ts";
import { readSlash } from "./slash.ts";
import { Transcript } from "./transcript.ts";

const HEARTBEAT_MS = 30_000;
/** The program that shows the lines breaks them. */
const COLUMNS = 100_000;

export async function runPlainChat(setup: ChatSetup): Promise<number> {
  const { io } = setup;
  const lines = new PlainLines(io, process.stdin);
  try {
    const isOurs = io.stdin.isTerminal;
    const asking = createAskOnTerminal(isOurs ? { openTerminal: () => lines.toTerminal() } : io);
    const engine = await setup.openEngine(
      asking?.ask ?? deny,
      (line) => void io.stdout.write(`${cleanForTerminal(line)}\n`),
    );
    try {
      return await new PlainChat(setup, engine, lines).run();
    } finally {
      await engine.close();
    }
  } finally {
    lines.close();
  }
}

const deny: Ask = () =>
  Promise.resolve({ answer: "no", reason: "No person is there to approve it." });

class PlainChat {
  readonly #setup: ChatSetup;
  readonly #engine: ChatEngine;
  readonly #lines: PlainLines;
  #turn: ChatTurn | undefined;
  /** Stops the person's command that is at work. */
  #command: AbortController | undefined;
  /** A list from which the next line may choose by number. */
  #picker: Picker | undefined;
  #isLeft = false;
  #carried: string[] = [];
  /** When something was last printed. */
  #saidAtMs = 0;

  constructor(setup: ChatSetup, engine: ChatEngine, lines: PlainLines) {
    this.#setup = setup;
    this.#engine = engine;
    this.#lines = lines;
  }

  async run(): Promise<number> {
    const { resume, firstWords } = this.#setup;
    const { warnings, model, conversation, historyFile } = this.#engine;
    for (const warning of warnings) await this.say(warning);
    await this.say(`model: ${model.reason}. /help lists the commands, /quit leaves.`);
    if (resume !== undefined) await this.take(`/resume ${resume}`);
    if (firstWords !== undefined) await this.take(firstWords);
    await this.readLines();
    const { id } = conversation;
    // A session that is not stored ends with its chat.
    if (id !== undefined && historyFile !== undefined)
      await this.say(`session: ${id} (offshoot chat --session ${id})`);
    return 0;
  }

  async say(text: string): Promise<void> {
    this.#saidAtMs = this.#setup.clock.now();
    await this.#setup.io.stdout.write(`${cleanForTerminal(text)}\n`);
  }

  async readLines(): Promise<void> {
    const stopListening = this.#setup.io.onInterrupt(() => this.#interrupt());
    const stopWatching = this.#setup.io.onReaderGone(() => {
      this.#isLeft = true;
      this.#stop();
      this.#lines.close();
    });
    try {
      while (!this.#isLeft) {
        const line = await this.#lines.next();
        if (line === undefined) return;
        await this.take(line);
      }
    } finally {
      stopListening();
      stopWatching();
    }
  }

  /** The first Ctrl-C stops the work; without work, it leaves. */
  #interrupt(): void {
    // The terminal shows `^C` and stays in that line.
    if (this.#setup.io.stdout.isTerminal) void this.#setup.io.stdout.write("\n");
    if (!this.#turn && !this.#command) return this.#lines.close();
    this.#stop();
    for (const line of this.#lines.takeRead()) void this.say(`not sent: ${line}`);
  }

  #stop(): void {
    this.#turn?.stop();
    this.#command?.abort();
  }

  /** Never rejects: a failure prints a line. */
  async take(line: string): Promise<void> {
    if (line.trim() === "") return;
    const call = readSlash(line);
    const choice = this.#takeChoice(line);
    try {
      if (choice) await choice.choose();
      else if (typeof call === "string") await this.say(call);
      else if (call) await runSlash(call, this.#toParts());
      else if (line.startsWith("!")) await this.#runShell(line.slice(1).trim());
      else await this.#send(line);
    } catch (thrown) {
      await this.say(toFailure(thrown).message);
    }
  }

  #takeChoice(line: string): PickerRow | undefined {
    const picker = this.#picker;
    this.#picker = undefined;
    return /^\d+$/.test(line.trim()) ? picker?.choices[Number(line) - 1] : undefined;
  }

  async #offer(picker: Picker): Promise<void> {
    this.#picker = picker;
    const rows = picker.choices.map(({ label }, at) => `${at + 1}: ${label}`);
    await this.say([`${picker.title}, by the number of its line:`, ...rows].join("\n"));
  }

  async #runShell(command: string): Promise<void> {
    const stopping = new AbortController();
    this.#command = stopping;
    try {
      const { told, code } = await runShell(command, this.#setup.io, {
        onText: (text) => void this.#setup.io.stdout.write(cleanForTerminal(text)),
        signal: stopping.signal,
      });
      if (code !== 0) await this.say(`exit code ${code ?? "none: it was stopped"}`);
      this.#carried.push(told);
    } finally {
      this.#command = undefined;
    }
  }

  #toParts(): Parameters<typeof runSlash>[1] {
    return {
      engine: this.#engine,
      cwd: this.#setup.io.cwd,
      say: (text) => void this.say(text),
      define: (rows) => void this.say(rows.map((row) => row.join(": ")).join("\n")),
      pick: (picker) => void this.#offer(picker),
      askModel: (words) => this.#send(words),
      queue: (words) => this.take(words),
      carry: (text) => void this.#carried.push(text),
      write: (words) => void this.say(`Your words were: ${words}`),
      moved: () => Promise.resolve(),
      leave: () => {
        this.#isLeft = true;
      },
    };
  }

  async #send(words: string): Promise<string> {
    const { clock, isVerbose } = this.#setup;
    const started = await this.#engine.start(words, this.#carried.splice(0).join("\n\n"));
    for (const note of started.notes) await this.say(note);
    const transcript = new Transcript({
      now: () => clock.now(),
      isVerbose,
      onHeard: (text) => void this.say(`heard: ${text}`),
      takeShown: () => false,
    });
    const turn = new ChatTurn(
      started,
      { transcript, onNews: () => this.#print(transcript) },
      clock.now(),
    );
    this.#turn = turn;
    this.#saidAtMs = clock.now();
    const beating = new AbortController();
    this.#beat(turn, beating.signal).catch(() => {});
    try {
      const run = await turn.finish();
      this.#print(transcript);
      await this.#engine.conversation.settle(run);
      return (await run.result()).output_text;
    } finally {
      beating.abort();
      this.#turn = undefined;
    }
  }

  #print(transcript: Transcript): void {
    const room = { columns: COLUMNS, maxOpen: 1000, isStyled: false };
    const { finished } = transcript.take(room);
    const text = finished.map(({ row }: FinishedLine) => `${textOf(row)}\n`).join("");
    if (text === "") return;
    this.#saidAtMs = this.#setup.clock.now();
    void this.#setup.io.stdout.write(text);
  }

  async #beat(turn: ChatTurn, signal: AbortSignal): Promise<void> {
    const { clock } = this.#setup;
    for (;;) {
      await clock.sleep(Math.max(0, this.#saidAtMs + HEARTBEAT_MS - clock.now()), signal);
      if (clock.now() - this.#saidAtMs < HEARTBEAT_MS) continue;
      await this.say(`still at work, ${toElapsed(clock.now() - turn.startedAtMs)}`);
    }
  }
}
