/**
 * Draws the screens of `offshoot chat` and `offshoot run` that README.md and docs/chat.md show, from a real chat and a
 * real run with a scripted model: `npm run docs:chat`. Needs the built command, and `script` of util-linux.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelRequest } from "../src/providers/provider.ts";
import { reply, respond } from "../src/testing/index.ts";
import type { AnswerReply } from "../src/testing/reply.ts";
import { createXterm, type Xterm } from "../test/cli/screen/xterm.ts";
import { createPlace, type Place } from "../test/e2e/command.ts";
import { startOnTerminal } from "../test/e2e/terminal.ts";
import { CHAT } from "../test/e2e/wires.ts";
import { toSvg } from "./pictures/screen-svg.ts";

// From build/scripts/ up to the checkout.
const docs = new URL("../../docs/", import.meta.url);
const COLUMNS = 100;
const ROWS = 44;

const MEDIAN = `export function median(values: number[]): number {
  const sorted = values.sort();
  return sorted[sorted.length >> 1];
}
`;

const QUESTION = "Why does median([10, 9, 1]) give 10?";

const ANSWER = `\`sort()\` compares **as text**: \`[10, 9, 1]\` becomes \`[1, 10, 9]\`, and 10 is in the middle. Two more
things are wrong with it:

1. It changes the array of the caller.
2. Of an even number of values it takes the upper one, not the mean.

\`\`\`ts
const sorted = values.toSorted((a, b) => a - b);
\`\`\`
`;

const EDIT = {
  path: "src/median.ts",
  old_string: "  const sorted = values.sort();\n  return sorted[sorted.length >> 1];\n",
  new_string:
    "  const sorted = values.toSorted((a, b) => a - b);\n  const middle = sorted.length >> 1;\n  const upper = sorted[middle] ?? NaN;\n  return sorted.length % 2 ? upper : (upper + (sorted[middle - 1] ?? NaN)) / 2;\n",
};

const DONE = `\`median\` now sorts a copy by value, and takes the mean of the two in the middle of an even number:

| call | before | now |
|---|--:|--:|
| \`median([10, 9, 1])\` | 10 | 9 |
| \`median([1, 2, 3, 4])\` | 3 | 2.5 |
`;

/** Reads the file once; then it explains, or edits and reports. */
function answer({ items }: ModelRequest): AnswerReply {
  const usage = { usage: { input: 14_200, output: 310 } };
  const called = items.flatMap((item) => (item.type === "function_call" ? [item.name] : []));
  if (!called.includes("read"))
    return reply.calls([{ name: "read", arguments: { path: EDIT.path } }], usage);
  const asked = items.findLast((item) => item.type === "message" && item.role === "user");
  if (!JSON.stringify(asked).includes("Fix")) return reply.text(ANSWER, usage);
  const isDone = called.includes("edit");
  return isDone ? reply.text(DONE, usage) : reply.calls([{ name: "edit", arguments: EDIT }], usage);
}

async function openPlace(url: string): Promise<Place> {
  const place = await createPlace({
    "src/median.ts": MEDIAN,
    ".git/HEAD": "ref: refs/heads/main\n",
  });
  const folder = join(place.home, ".config/offshoot");
  await mkdir(folder, { recursive: true });
  const price = { input: 2, cached: 0.2, output: 8 };
  const models = { large: { context_tokens: 200_000, max_output_tokens: 8000, price } };
  const vendors = { acme: { like: "custom", url, models } };
  await writeFile(join(folder, "config.yaml"), JSON.stringify({ vendors, max_cost: 2 }));
  return place;
}

async function main(): Promise<void> {
  await using upstream = await CHAT.start({ engine: respond(answer) });
  await drawChat(upstream.url);
  await drawRun(upstream.url);
}

async function drawChat(url: string): Promise<void> {
  await using place = await openPlace(url);
  const terminal = startOnTerminal(place, ["chat", "-m", "acme/large"], "", {
    columns: COLUMNS,
    rows: ROWS,
  });
  await terminal.shows("/help");
  terminal.type(`${QUESTION}\r`);
  await terminal.shows("2 turns");
  terminal.type("Fix all three\r");
  await terminal.shows("ancel the run");
  await terminal.shows("NaN)) / 2;");
  await write(
    "chat",
    "A chat: an answer with code, and a change that waits for approval",
    await toXterm("", terminal.screen),
  );
  terminal.type("c\r");
  await terminal.shows("Stopped");
  terminal.type("/quit\r");
  await terminal.ended;
}

async function drawRun(url: string): Promise<void> {
  await using place = await openPlace(url);
  const words = "Fix median in src/median.ts";
  const args = ["run", "-m", "acme/large", "--approve", "auto", words];
  const terminal = startOnTerminal(place, args, "", { columns: COLUMNS, rows: ROWS });
  await terminal.ended;
  const typed = `\x1b[2m$\x1b[m offshoot ${args.slice(0, -1).join(" ")} "${words}"\r\n`;
  const title = "A run: its tool calls, the change that it made, the answer, and what it cost";
  await write("run", title, await toXterm(typed, terminal.screen));
}

async function toXterm(before: string, bytes: string): Promise<Xterm> {
  const xterm = createXterm(COLUMNS, ROWS);
  await xterm.write(before + bytes);
  return xterm;
}

async function write(name: string, title: string, xterm: Xterm): Promise<void> {
  const all = xterm.looks();
  const end = all.findLastIndex((pieces) => pieces.length > 0);
  const rows = all.slice(0, end + 1);
  // After its last line a run has no cursor to show.
  const cursor = xterm.cursor.row <= end ? xterm.cursor : undefined;
  await writeFile(new URL(`${name}.svg`, docs), toSvg({ title, rows, columns: COLUMNS, cursor }));
  console.log(
    `docs/${name}.svg\n${xterm
      .screen()
      .slice(0, end + 1)
      .join("\n")}\n`,
  );
}

await main();
