/** A chat on a terminal without a screen: a real runtime and a real session, a scripted model, and a clock to turn. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Chat, type ChatSetup } from "../../../src/cli/chat/chat.ts";
import { openChatScreen } from "../../../src/cli/chat/chat-screen.ts";
import type { ChatEngine } from "../../../src/cli/chat/open-chat.ts";
import { SessionConversation } from "../../../src/cli/chat/session-conversation.ts";
import type { KeyListener, Output } from "../../../src/cli/io.ts";
import { followTree } from "../../../src/delegation/ledger/follow-tree.ts";
import type { Message } from "../../../src/protocol/items.ts";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import {
  createManualClock,
  createScriptedProvider,
  type Reply,
} from "../../../src/testing/index.ts";
import type { Ask } from "../../../src/tools/gate/ask.ts";
import { untilTrue } from "../../patience.ts";
import { createFakeIo } from "../fake-io.ts";
import { createXterm, type Xterm } from "../screen/xterm.ts";

export interface ChatBench {
  readonly chat: Chat;
  readonly xterm: Xterm;
  readonly cwd: string;
  readonly historyFile: string;
  /** The id of the session that the next words belong to. */
  readonly session: string | undefined;
  /** The last words of the person in each request to the model, in order. */
  readonly asked: readonly string[];
  /** Keys and texts as a terminal sends them. */
  type(keys: string): void;
  /** What the terminal reports after Ctrl-Z and `fg`. */
  goOn(): void;
  /** Lets time pass, and what is due happen. */
  pass(ms: number): Promise<void>;
  /** Resolves when a line on the terminal, in the scrollback too, is like that. */
  sees(pattern: RegExp): Promise<void>;
  /** All lines that are there, without empty ones. */
  lines(): string[];
  /** Leaves it as the closing of the terminal does, and gives what is said last. */
  end(): Promise<string>;
}

export interface BenchOptions {
  /** The model's answer to the last words of the person. A promise lets it wait. */
  readonly answer: (words: string, request: ModelRequest) => Reply | Promise<Reply>;
  readonly columns?: number;
  readonly rows?: number;
  /** Changes the engine before the chat has it. */
  readonly change?: (engine: ChatEngine) => Partial<ChatEngine>;
  readonly setup?: Partial<ChatSetup>;
  /** Tools that the model may call; `write` when left out. */
  readonly tools?: readonly string[];
}

export async function openChatBench(t: TestContext, options: BenchOptions): Promise<ChatBench> {
  const { answer, columns = 80, rows = 24, change = () => ({}), setup = {} } = options;
  const { tools = ["write"] } = options;
  const home = mkdtempSync(join(tmpdir(), "offshoot-"));
  const historyFile = join(home, "data", "history.jsonl");
  const clock = createManualClock(1_000_000);
  const xterm = createXterm(columns, rows);
  const output: Output = {
    isTerminal: true,
    columns,
    rows,
    isStyled: true,
    write: (text) => void xterm.write(text),
  };
  let listener: KeyListener | undefined;
  const io = {
    ...createFakeIo({ cwd: home, home }),
    stdout: output,
    openKeys(given: KeyListener) {
      listener = given;
      return { pause() {}, resume() {}, suspend: () => given.onSuspend(), close() {} };
    },
  };
  const asked: string[] = [];
  let opened: ChatEngine | undefined;
  const provider: Provider = {
    name: "scripted",
    async *stream(request, call) {
      const words = lastWords(request);
      asked.push(words);
      const said = await answer(words, request);
      call.signal.throwIfAborted();
      yield* createScriptedProvider(said).stream(request, call);
    },
  };
  const chat = new Chat({
    io,
    clock,
    isVerbose: false,
    openEngine: async (ask) => {
      const engine = await createEngine({ provider, ask, cwd: home, historyFile, tools });
      opened = { ...engine, ...change(engine) };
      return opened;
    },
    ...setup,
  });
  const handlers = {
    onTyped: chat.onTyped.bind(chat),
    toPicture: () => chat.toPicture(),
    onGone: () => chat.onGone(),
  };
  const screen = openChatScreen({ io: { ...io, output }, clock }, handlers);
  if (!screen || !listener) throw new Error("The keys were not opened.");
  const { onKeys, whole } = listener;
  const begun = chat.begin(screen);
  const lines = (): string[] => xterm.lines().filter((line) => line !== "");
  const pass = (ms: number): Promise<void> => clock.advance(ms);
  let ended: Promise<string> | undefined;
  const leave = async (): Promise<string> => {
    chat.onGone();
    await chat.left;
    await begun;
    const said = await chat.end();
    screen.close();
    return said;
  };
  const end = (): Promise<string> => {
    ended ??= leave();
    return ended;
  };
  t.after(async () => {
    await end();
    rmSync(home, { recursive: true, force: true });
  });
  return {
    chat,
    xterm,
    cwd: home,
    historyFile,
    asked,
    lines,
    pass,
    get session() {
      return opened?.conversation.id;
    },
    type: (keys) => onKeys(keys),
    goOn: () => whole?.onContinue(),
    async sees(pattern) {
      await untilTrue(
        async () => {
          // A frame at a time: what is drawn over later is seen, too.
          await pass(10);
          await xterm.write("");
          return lines().some((line) => pattern.test(line));
        },
        `${pattern} among\n${lines().join("\n")}`,
      );
    },
    end,
  };
}

interface EngineParts {
  readonly provider: Provider;
  readonly ask: Ask;
  readonly cwd: string;
  readonly historyFile: string;
  readonly tools: readonly string[];
}

async function createEngine({
  provider,
  ask,
  cwd,
  historyFile,
  tools,
}: EngineParts): Promise<ChatEngine> {
  const runtime = await createRuntime({ env: {}, provider, ask });
  const conversation = new SessionConversation(runtime, cwd);
  return {
    model: { ref: "test/model", reason: "test/model" } as ChatEngine["model"],
    contextTokens: undefined,
    maxUsd: undefined,
    isThinking: false,
    tools,
    agents: [],
    warnings: [],
    conversation,
    historyFile,
    record: runtime.engine.record,
    async start(words) {
      const message: Message = { type: "message", role: "user", content: words };
      const run = await conversation.start(message, { model: "test/model", tools, root: cwd });
      return { run, notes: [], follow: (signal) => followTree(runtime.engine, run.id, { signal }) };
    },
    undo: (turn, how) => runtime.undo({ session: conversation.id ?? "", turn }, how),
    async setModel() {},
    setThinking() {},
    async setTools() {},
    close: () => runtime.close(),
  };
}

function lastWords({ items }: ModelRequest): string {
  const last = items.findLast((item) => item.type === "message" && item.role === "user");
  const content = last?.type === "message" ? last.content : "";
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : "")).join("");
}
