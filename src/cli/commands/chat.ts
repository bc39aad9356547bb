/**
 * `offshoot chat`: a session on the terminal. The first frame is drawn before anything else is loaded, so that a
 * person can type at once.
 */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { Chat, type ChatSetup } from "../chat/chat.ts";
import { OFF, openChatScreen } from "../chat/chat-screen.ts";
import type { CommandCall, RunCommand } from "../command.ts";
import type { Io, Output } from "../io.ts";
import { looksOf } from "../terminal.ts";
import { createTerminalRestorer } from "../terminal-restorer.ts";

export const run: RunCommand = async (call, io) => {
  if (isPlain(call, io)) {
    const { runPlainChat } = await import("../chat/plain-chat.ts");
    return await runPlainChat(toSetup(call, io));
  }
  if (!io.stdin.isTerminal || !io.stdout.isTerminal) {
    const message =
      "`offshoot chat` needs a terminal. Use `offshoot run`, or `offshoot chat --plain`.";
    throw new Failure("invalid_request", message);
  }
  return await runOnScreen(toSetup(call, io));
};

/** For screen readers and terminals that cannot draw: lines that are written once. */
function isPlain({ options }: CommandCall, { env, stdout }: Io): boolean {
  const accessible = env["ACCESSIBLE"] ?? "";
  const isWished = options["plain"] === true || (accessible !== "" && accessible !== "0");
  return isWished || (stdout.isTerminal && stdout.isRedrawn === false);
}

function toSetup({ options, words }: CommandCall, io: Io): ChatSetup {
  const { session } = options;
  const asked = options["continue"] === true ? "last" : undefined;
  const firstWords = words.join(" ").trim();
  return {
    io,
    clock: systemClock,
    isVerbose: options["verbose"] === true,
    resume: typeof session === "string" ? session : asked,
    firstWords: firstWords === "" ? undefined : firstWords,
    async openEngine(ask, tell) {
      const { openChatEngine } = await import("../chat/open-chat.ts");
      const stderr = io.stderr.isTerminal ? toTold(io.stderr, tell) : io.stderr;
      return await openChatEngine({ io: { ...io, stderr }, options, ask });
    },
  };
}

/**
 * Whole lines come here: about settings that are ignored, servers that cannot be used, and from the log.
 */
function toTold(stderr: Output, tell: (line: string) => void): Output {
  return {
    ...looksOf(stderr),
    columns: stderr.columns,
    write: (text) => tell(text.trimEnd().replace(/^offshoot: /, "")),
  };
}

async function runOnScreen(setup: ChatSetup): Promise<number> {
  const { io, clock } = setup;
  const chat = new Chat(setup);
  const handlers = {
    onTyped: chat.onTyped.bind(chat),
    toPicture: () => chat.toPicture(),
    onGone: () => chat.onGone(),
  };
  const restorer = createTerminalRestorer(OFF);
  const parts = { io: { ...io, output: io.stdout }, clock, onTurn: restorer.tell };
  const screen = openChatScreen(parts, handlers);
  if (!screen) {
    const message =
      "The keys of this terminal cannot be read: another program has it. Try `offshoot chat --plain`.";
    throw new Failure("invalid_request", message);
  }
  // Ctrl-C is a key here. A signal comes from elsewhere and ends the chat, with the terminal restored.
  const stopListening = [
    io.onInterrupt((signal) => {
      // Ctrl-C typed in an external editor belongs to that editor.
      if (signal !== "SIGINT" || !screen.isLent) chat.onGone();
    }),
    // If the terminal is gone, nothing can be written to it; the run is still ended properly.
    io.onReaderGone(() => chat.onGone()),
  ];
  try {
    void chat.begin(screen);
    const exitCode = await chat.left;
    const farewell = await chat.end();
    screen.close();
    await io.stderr.write(farewell);
    return exitCode;
  } finally {
    for (const stop of stopListening) stop();
    screen.close();
  }
}
