/**
 * What a long answer costs in a chat: how many bytes are sent to the terminal, and how much CPU time that takes. A
 * real chat on a terminal that `script` of util-linux makes; the figures cover everything between Enter and the
 * summary line of the run.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Comparison, Contender } from "./measure.ts";
import { makeStream, type Stream } from "./streams.ts";

interface ChatPlace {
  readonly cli: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const CHARACTERS = 100_000;
const ROUNDS = 3;
/** The pace of a fast model. A slower one costs more for each character, and less for each second. */
const PACE = 20_000;

const TEXT = "the text itself";
const AT_ONCE = "chat, all of it at once";
const PACED = `chat, ${PACE} characters a second`;
const SINGLE = `${CHARACTERS} characters`;
const DOUBLE = `${2 * CHARACTERS} characters`;

export function toChatComparisons(place: ChatPlace): Comparison[] {
  const measure =
    (cost: keyof Cost, characters: number, pace = Number.POSITIVE_INFINITY) =>
    async (): Promise<number> =>
      (await showAnswer(place, makeAnswer(characters), pace))[cost];
  const bytes: Contender[] = [
    { name: TEXT, measure: () => makeAnswer(CHARACTERS).characters },
    { name: AT_ONCE, measure: measure("bytes", CHARACTERS) },
    { name: PACED, measure: measure("bytes", CHARACTERS, PACE) },
  ];
  const times: Contender[] = [
    { name: SINGLE, measure: measure("cpuMs", CHARACTERS) },
    { name: DOUBLE, measure: measure("cpuMs", 2 * CHARACTERS) },
  ];
  return [
    {
      title: "an answer in a chat, what the terminal gets",
      unit: "bytes",
      rounds: ROUNDS,
      contenders: bytes,
      limits: [AT_ONCE, PACED].map((subject) => ({ subject, baseline: TEXT, atMost: 1.3 })),
    },
    {
      title: "an answer in a chat, CPU time",
      unit: "ms",
      rounds: ROUNDS,
      contenders: times,
      // Linear: twice the text takes at most twice the time.
      limits: [{ subject: DOUBLE, baseline: SINGLE, atMost: 2 }],
    },
  ];
}

interface Answer {
  readonly stream: Stream;
  readonly characters: number;
}

function makeAnswer(characters: number): Answer {
  // About five characters each.
  const stream = makeStream("chat", Math.ceil(characters / 4.5));
  return { stream, characters: countCharacters(stream) };
}

function countCharacters({ payloads }: Stream): number {
  return payloads.reduce((sum, payload) => {
    const [, text = '""'] = /"content":("(?:[^"\\]|\\.)*")/.exec(payload) ?? [];
    return sum + (JSON.parse(text) as string).length;
  }, 0);
}

interface Cost {
  readonly bytes: number;
  readonly cpuMs: number;
}

async function showAnswer(place: ChatPlace, answer: Answer, pace: number): Promise<Cost> {
  const server = await startServer(answer, pace);
  const { port } = server.address() as AddressInfo;
  const { cli, home, env } = place;
  const pidFile = join(home, "pid");
  const words = ["chat", "-m", "x", "--provider", "openai-chat"];
  const line = [process.execPath, cli, ...words, "--url", `http://127.0.0.1:${port}/v1`];
  const command = `echo $$ > ${pidFile}; exec ${line.map((word) => `'${word}'`).join(" ")}`;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    cwd: home,
    env: { ...env, SHELL: "/bin/sh", TERM: "xterm" },
  });
  try {
    const screen = watch(child);
    await screen.until("model: ");
    const pid = Number(readFileSync(pidFile, "utf8"));
    const before = { bytes: screen.bytes, cpuMs: readCpuMs(pid) };
    child.stdin.write("go\r");
    await screen.until("1 turn");
    return { bytes: screen.bytes - before.bytes, cpuMs: readCpuMs(pid) - before.cpuMs };
  } finally {
    child.kill("SIGKILL");
    server.close();
  }
}

function watch(child: ChildProcessWithoutNullStreams) {
  let text = "";
  let bytes = 0;
  child.stdout.on("data", (piece: Buffer) => {
    bytes += piece.length;
    // The end is enough to find words in.
    text = (text + piece.toString("latin1")).slice(-10_000);
  });
  return {
    get bytes() {
      return bytes;
    },
    async until(words: string): Promise<void> {
      while (!text.includes(words)) await once(child.stdout, "data");
    },
  };
}

/** On Linux, in hundredths of a second: user and system time, after the name, which may contain blanks. */
function readCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

async function startServer({ stream, characters }: Answer, pace: number): Promise<Server> {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
  const { frames } = stream;
  const tickMs = 20;
  const perTick = Math.ceil((frames.length * pace * tickMs) / 1000 / characters);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", async () => {
      socket.write(head);
      for (let at = 0; at < frames.length; at += perTick) {
        socket.write(Buffer.concat(frames.slice(at, at + perTick)));
        await setTimeout(tickMs);
      }
      socket.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
