/** The keys of a chat: what they do to the words, to the history and to what is shown. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { reply } from "../../../src/testing/index.ts";
import { untilTrue } from "../../patience.ts";
import { type ChatBench, openChatBench } from "./chat-fixture.ts";

const ENTER = "\r";
const ESC = "\x1b";
const CTRL_R = "\x12";
const CTRL_U = "\x15";
const UNDO = "\x1f";
const REDO = "\x1b_";

async function open(t: TestContext): Promise<ChatBench> {
  const bench = await openChatBench(t, { answer: (words) => reply.text(`You said ${words}.`) });
  await bench.sees(/^model: test/);
  return bench;
}

async function say(bench: ChatBench, words: string): Promise<void> {
  bench.type(`${words}${ENTER}`);
  await bench.sees(new RegExp(`^You said ${words}\\.$`));
}

describe("the keys of a chat", () => {
  it("search the history with Ctrl-R, further back with each, and Esc brings the words back", async (t) => {
    const bench = await open(t);
    await say(bench, "fix the parser");
    await say(bench, "run the tests");
    await say(bench, "fix the docs");
    bench.type(`half a thou${CTRL_R}`);
    bench.type("FIX");
    await bench.sees(/^history: FIX_ /);
    await bench.sees(/^> fix the docs$/);
    bench.type(CTRL_R);
    await bench.sees(/^> fix the parser$/);
    bench.type(CTRL_R);
    await bench.sees(/^history: FIX_ nothing more found/);
    bench.type(ESC);
    await bench.sees(/^> half a thou$/);
    bench.type(`${CTRL_U}${CTRL_R}tests${ENTER}`);
    const isAsked = (): boolean =>
      bench.asked.filter((words) => words === "run the tests").length === 2;
    await untilTrue(isAsked, "the words to be sent again");
  });

  it("go through the history with the arrows, also that of other chats", async (t) => {
    const bench = await openChatBench(t, {
      answer: () => reply.text("Yes."),
      change: ({ historyFile = "" }) => {
        mkdirSync(dirname(historyFile), { recursive: true });
        writeFileSync(historyFile, '"from another chat"\nbroken\n"two\\nlines"\n');
        return {};
      },
    });
    await bench.sees(/^model: test/);
    bench.type("half");
    bench.type("\x1b[A");
    await bench.sees(/^> two$/);
    await bench.sees(/^ {2}lines$/);
    bench.type("\x1b[A");
    bench.type("\x1b[A");
    await bench.sees(/^> from another chat$/);
    bench.type("\x1b[B\x1b[B\x1b[B\x1b[B");
    await bench.sees(/^> half$/);
  });

  it("undo and redo what was typed, killed and cleared", async (t) => {
    const bench = await open(t);
    bench.type("some words");
    bench.type("\x17");
    await bench.sees(/^> some$/);
    bench.type(UNDO);
    await bench.sees(/^> some words$/);
    bench.type(REDO);
    await bench.sees(/^> some$/);
    bench.type("\x19");
    await bench.sees(/^> some words$/);
    bench.type("\x03");
    await bench.sees(/^>$/);
    bench.type(UNDO);
    await bench.sees(/^> some words$/);
  });

  for (const [name, keys] of [
    ["Ctrl-J", "\n"],
    ["Alt-Enter", "\x1b\r"],
    ["Shift-Enter of kitty's protocol", "\x1b[13;2u"],
    ["a backslash before Enter", "\\\r"],
  ] as const) {
    it(`break a line with ${name}`, async (t) => {
      const bench = await open(t);
      bench.type("one");
      bench.type(keys);
      bench.type("two");
      await bench.sees(/^ {2}two$/);
      bench.type(ENTER);
      await bench.sees(/^You said one/);
      assert.deepEqual(bench.asked, ["one\ntwo"]);
    });
  }

  it("complete commands with Tab, and Esc closes the list", async (t) => {
    const bench = await open(t);
    bench.type("/re");
    await bench.sees(/^> \/rewind /);
    await bench.sees(/^ {2}\/resume /);
    bench.type("\x1b[B\t");
    await bench.sees(/^> \/resume$/);
    bench.type(`${CTRL_U}/re`);
    await bench.sees(/^ {2}\/resume /);
    bench.type(ESC);
    await bench.pass(100);
    await bench.xterm.write("");
    assert.ok(!bench.lines().some((line) => line.startsWith("  /resume")));
  });

  it("say what the first Ctrl-C did, however narrow the terminal is, and leave with the second", async (t) => {
    const bench = await openChatBench(t, { answer: () => reply.text("Yes."), columns: 40 });
    await bench.sees(/^model: test/);
    bench.type("some words\x03");
    await bench.sees(/^Ctrl-C again leaves/);
    bench.type("\x03");
    assert.equal(await bench.chat.left, 0);
  });

  it("leave with Ctrl-D on an empty editor, and else delete a character", async (t) => {
    const bench = await open(t);
    bench.type("ab\x01\x04");
    await bench.sees(/^> b$/);
    bench.type(`${CTRL_U}\x05\x7f\x04`);
    assert.equal(await bench.chat.left, 0);
  });
});
