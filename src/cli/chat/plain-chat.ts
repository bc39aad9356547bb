/**
 * A chat in plain lines, for screen readers, for terminals that cannot draw and for pipes: nothing is written over,
 * nothing moves, no looks. A line that is read is a prompt; a long silence is told every half minute.
 */

import { createInterface } from "node:readline";
import { toFailure } from "../../base/failure.ts";
import { createAskOnTerminal } from "../ask-on-terminal.ts";
import { toElapsed } from "../output/amounts.ts";
import type { FinishedLine } from "../screen/frame.ts";
import { textOf } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";
import type { ChatSetup } from "./chat.ts";
import { runSlash } from "./chat-commands.ts";
import { ChatTurn } from "./chat-turn.ts";
import type { ChatEngine } from "./open-chat.ts";
import type { Choice, Picker } from "./picker.ts";
import { runShell } from "./programs.ts";
import { readSlash } from "./slash.ts";
import { Transcript } from "./transcript.ts";

const HEARTBEAT_MS = 30_000;
/** Lines are broken by whoever shows them. */
const COLUMNS = 100_000;

export async function runPlainChat(setup: ChatSetup): Promise<number> {
  const { io } = setup;
  const asking = createAskOnTerminal(io);
  const engine = await setup.openEngine(
    asking?.ask ??
      (() => Promise.resolve({ answer: "no", reason: "Nobody is there to approve it." })),
  );
  const chat = new PlainChat(setup, engine);
  try {
    for (const warning of engine.warnings) await chat.say(warning);
    await chat.say(`model: ${engine.model.reason}. /help lists the commands, /quit leaves.`);
    if (setup.resume !== undefined) await chat.take(`/resume ${setup.resume}`);
    if (setup.firstWords !== undefined) await chat.take(setup.firstWords);
    await chat.readLines();
    const { id } = engine.conversation;
    if (id !== undefined) await chat.say(`session: ${id} (offshoot chat --session ${id})`);
    return 0;
  } finally {
    await engine.close();
  }
}

class PlainChat {
  readonly #setup: ChatSetup;
  readonly #engine: ChatEngine;
  #turn: ChatTurn | undefined;
  /** A command of the person's that is at work. */
  #command: AbortController | undefined;
  /** A list that the next line may choose from, by its number. */
  #picker: Picker | undefined;
  #isLeft = false;
  #carried: string[] = [];
  /** When something was last written. */
  #saidAtMs = 0;

  constructor(setup: ChatSetup, engine: ChatEngine) {
    this.#setup = setup;
    this.#engine = engine;
  }

  async say(text: string): Promise<void> {
    this.#saidAtMs = this.#setup.clock.now();
    await this.#setup.io.stdout.write(`${cleanForTerminal(text)}\n`);
  }

  async readLines(): Promise<void> {
    // Line by line the terminal itself is the editor.
    const reader = createInterface({ input: process.stdin, terminal: false });
    const stopListening = this.#setup.io.onInterrupt(() => {
      if (!this.#turn && !this.#command) return reader.close();
      this.#turn?.stop();
      this.#command?.abort();
    });
    const stopWatching = this.#setup.io.onReaderGone(() => {
      this.#isLeft = true;
      this.#turn?.stop();
      this.#command?.abort();
      reader.close();
    });
    try {
      for await (const line of reader) {
        await this.take(line);
        if (this.#isLeft) return;
      }
    } finally {
      stopListening();
      stopWatching();
      reader.close();
    }
  }

  /** Never rejects: what is wrong is a line. */
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

  #takeChoice(line: string): Choice | undefined {
    const picker = this.#picker;
    this.#picker = undefined;
    return /^\d+$/.test(line.trim()) ? picker?.choices[Number(line) - 1] : undefined;
  }

  async #offer(picker: Picker): Promise<void> {
    this.#picker = picker;
    const rows = picker.choices.map(({ label }, at) => `${at + 1}: ${label}`);
    await this.say([`${picker.title}, by its number:`, ...rows].join("\n"));
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
      ...{ now: () => clock.now(), isVerbose },
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
