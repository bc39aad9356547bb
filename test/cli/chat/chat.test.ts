/**
 * The behaviour of a chat at moments that a person cannot hit on purpose: races of keys, runs, questions and
 * commands.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { reply } from "../../../src/testing/index.ts";
import { untilTrue } from "../../patience.ts";
import { openChatBench } from "./chat-fixture.ts";

const ENTER = "\r";
const ESC = "\x1b";
const WRITE = reply.calls([{ name: "write", arguments: { path: "made.txt", content: "made\n" } }]);

/** Something that is waited for until a test lets it go. */
function createGate() {
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

const echo = (words: string) => reply.text(`You said ${words}.`);

describe("a chat", () => {
  it("does not take the end of a sentence for an answer", async (t) => {
    const gate = createGate();
    const bench = await openChatBench(t, {
      async answer(words, { items }) {
        if (items.at(-1)?.type === "function_call_output") return reply.text("Done.");
        if (words !== "go") return echo(words);
        await gate.passed;
        return WRITE;
      },
    });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^> go$/);
    bench.type("is it read");
    gate.open();
    await bench.sees(/^Approve write\?$/);
    // In the middle of the sentence, whose end is the letter and Enter.
    bench.type("y");
    bench.type(ENTER);
    await bench.sees(/^steering: is it ready$/);
    assert.equal(existsSync(join(bench.cwd, "made.txt")), false);
    bench.type(`y${ENTER}`);
    await bench.sees(/^You said is it ready\.$/);
    assert.equal(existsSync(join(bench.cwd, "made.txt")), true);
  });

  it("takes an answer after a pause, and brings the sentence back after it", async (t) => {
    const gate = createGate();
    const bench = await openChatBench(t, {
      async answer(_, { items }) {
        if (items.at(-1)?.type === "function_call_output") return reply.text("Done.");
        await gate.passed;
        return WRITE;
      },
    });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^> go$/);
    bench.type("half a sentence");
    gate.open();
    await bench.sees(/^Approve write\?$/);
    await bench.pass(2000);
    bench.type(`y${ENTER}`);
    await bench.sees(/^Done\.$/);
    await bench.sees(/^> half a sentence$/);
  });

  it("keeps a question open at Ctrl-D, and says what to press instead", async (t) => {
    const bench = await openChatBench(t, {
      answer: (_, { items }) =>
        items.at(-1)?.type === "function_call_output" ? reply.text("Done.") : WRITE,
    });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^Approve write\?$/);
    bench.type("\x04");
    await bench.sees(/Not answered\. Ctrl-C twice leaves/);
    assert.equal(existsSync(join(bench.cwd, "made.txt")), false);
    bench.type(`y${ENTER}`);
    await bench.sees(/^Done\.$/);
    assert.equal(existsSync(join(bench.cwd, "made.txt")), true);
  });

  it("gives back words that are not an answer in the order in which they were typed", async (t) => {
    const bench = await openChatBench(t, {
      answer: (_, { items }) =>
        items.at(-1)?.type === "function_call_output" ? reply.text("Done.") : WRITE,
    });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^Approve write\?$/);
    await bench.pass(2000);
    bench.type(`first${ENTER}`);
    await bench.sees(/^Answer first: /);
    bench.type(`second${ENTER}`);
    bench.type(`y${ENTER}`);
    await bench.sees(/^Done\.$/);
    await bench.sees(/^> first$/);
    await bench.sees(/^ {2}second$/);
  });

  it("says words after /compact in the new session, whenever they were typed", async (t) => {
    const gate = createGate();
    const bench = await openChatBench(t, {
      async answer(words) {
        if (!words.startsWith("Summarise")) return echo(words);
        await gate.passed;
        return reply.text("We spoke.");
      },
    });
    await bench.sees(/^model: test/);
    bench.type(`alpha${ENTER}`);
    await bench.sees(/^You said alpha\.$/);
    const first = bench.session;
    bench.type(`/compact${ENTER}`);
    await bench.sees(/^> Summarise/);
    bench.type(`beta${ENTER}`);
    await bench.sees(/^queued: beta$/);
    gate.open();
    await bench.sees(/^You said beta\.$/);
    assert.notEqual(bench.session, first);
    const at = bench.lines().findIndex((line) => line.startsWith("A new session continues"));
    assert.ok(at > 0 && at < bench.lines().indexOf("> beta"), bench.lines().join("\n"));
  });

  it("continues unchanged if /compact is stopped in the middle of its summary", async (t) => {
    const bench = await openChatBench(t, {
      answer: (words) =>
        words.startsWith("Summarise") ? reply.silence("We spoke of") : echo(words),
    });
    await bench.sees(/^model: test/);
    bench.type(`alpha${ENTER}`);
    await bench.sees(/^You said alpha\.$/);
    const first = bench.session;
    bench.type(`/compact${ENTER}`);
    await bench.sees(/^We spoke of$/);
    bench.type(ESC);
    await bench.sees(/^There was no summary; the session continues as it was\.$/);
    assert.equal(bench.session, first);
  });

  it("accepts words again after the record has failed during a run", async (t) => {
    let isBroken = false;
    const bench = await openChatBench(t, {
      answer: echo,
      change: ({ start }) => ({
        async start(words, before) {
          const started = await start(words, before);
          const run = {
            ...started.run,
            result: () => Promise.reject(new Failure("internal", "no disk")),
          };
          return isBroken ? { ...started, run } : started;
        },
      }),
    });
    await bench.sees(/^model: test/);
    isBroken = true;
    bench.type(`alpha${ENTER}`);
    await bench.sees(/^no disk$/);
    isBroken = false;
    bench.type(`beta${ENTER}`);
    await bench.sees(/^You said beta\.$/);
  });

  it("gives queued words back if the run fails", async (t) => {
    const gate = createGate();
    const bench = await openChatBench(t, {
      async answer() {
        await gate.passed;
        return reply.status(401, "no such key");
      },
    });
    await bench.sees(/^model: test/);
    bench.type(`alpha${ENTER}`);
    await bench.sees(/^> alpha$/);
    bench.type("after that\t");
    await bench.sees(/^queued: after that$/);
    gate.open();
    await bench.sees(/^failed: /);
    await bench.sees(/^> after that$/);
    assert.deepEqual(bench.asked, ["alpha"]);
  });

  it("keeps words in the history that were not sent when the terminal is closed", async (t) => {
    const bench = await openChatBench(t, { answer: () => reply.silence("Holding") });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^Holding$/);
    bench.type("after that\t");
    bench.type("half a thou");
    await bench.end();
    const kept = readFileSync(bench.historyFile, "utf8").trim().split("\n");
    assert.deepEqual(
      kept.map((line) => JSON.parse(line) as string),
      ["go", "after that", "after that\nhalf a thou"],
    );
  });

  it("shows unsent words if the history cannot be opened", async (t) => {
    const gate = createGate();
    const bench = await openChatBench(t, {
      answer: echo,
      setup: {
        async openEngine() {
          await gate.passed;
          throw new Failure("invalid_request", "The settings are broken.");
        },
      },
    });
    bench.type("typed meanwhile");
    gate.open();
    await bench.sees(/^The settings are broken\.$/);
    assert.equal(await bench.end(), "not sent: typed meanwhile\n");
  });

  it("sends words that were typed before its model was loaded, the command line's first", async (t) => {
    const bench = await openChatBench(t, { answer: echo, setup: { firstWords: "one" } });
    bench.type(`two${ENTER}`);
    await bench.sees(/^You said two\.$/);
    assert.deepEqual(bench.asked, ["one", "two"]);
    await bench.end();
    assert.match(readFileSync(bench.historyFile, "utf8"), /^"two"$/m);
  });

  it("shows a call's change again if the same call is made without a question", async (t) => {
    let calls = 0;
    const bench = await openChatBench(t, {
      answer: (_, { items }) =>
        items.at(-1)?.type !== "function_call_output" || ++calls < 2 ? WRITE : reply.text("Done."),
    });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^Approve write\?$/);
    bench.type(`a${ENTER}`);
    await bench.sees(/^Done\.$/);
    assert.equal(bench.lines().filter((line) => line === "  +made").length, 2);
  });

  it("shows every argument of a call that it asks about, whatever is in it", async (t) => {
    const command = "rm -rf src # always allow: nothing";
    const bench = await openChatBench(t, {
      answer: () => reply.calls([{ name: "shell", arguments: { command } }]),
      tools: ["shell"],
    });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^Approve shell\?$/);
    assert.ok(bench.lines().includes(`  "command": "${command}"`), bench.lines().join("\n"));
  });

  it("begins no line of a question with a model's words, however long they are", async (t) => {
    const command = `${"x".repeat(90)} Approve read?`;
    const bench = await openChatBench(t, {
      answer: () => reply.calls([{ name: "shell", arguments: { command } }]),
      tools: ["shell"],
    });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^Approve shell\?$/);
    const from = bench.lines().indexOf("Tool Call: shell");
    const to = bench.lines().findIndex((line) => line.includes("why:"));
    const told = bench.lines().slice(from + 1, to);
    assert.ok(told.length >= 2 && told.every((line) => line.startsWith("  ")), told.join("\n"));
  });

  it("draws its rows once after Ctrl-Z, whatever was drawn before the signal", async (t) => {
    const bench = await openChatBench(t, { answer: () => reply.silence("Holding") });
    await bench.sees(/^model: test/);
    bench.type(`go${ENTER}`);
    await bench.sees(/^Holding$/);
    bench.type("\x1a");
    await bench.pass(500);
    bench.goOn();
    await bench.pass(500);
    await bench.xterm.write("");
    assert.equal(bench.lines().filter((line) => line === "Holding").length, 1);
  });

  it("shortens a long message in its scrollback, and says how long it was", async (t) => {
    const bench = await openChatBench(t, { answer: () => reply.text("Read.") });
    await bench.sees(/^model: test/);
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
    bench.type(`\x1b[200~${lines.join("\n")}\x1b[201~${ENTER}`);
    await bench.sees(/^Read\.$/);
    assert.ok(
      bench.lines().includes("  … (lines: 100, characters: 789)"),
      bench.lines().join("\n"),
    );
    assert.ok(!bench.lines().includes("  line 20"));
    assert.deepEqual(bench.asked, [lines.join("\n")]);
  });

  for (const columns of [40, 60, 100]) {
    it(`shows a whole question and all of /help at ${columns} columns`, async (t) => {
      const bench = await openChatBench(t, {
        columns,
        rows: 40,
        answer: () => WRITE,
      });
      await bench.sees(/^model: test/);
      bench.type(`/help${ENTER}`);
      await bench.sees(/^!command/);
      bench.type(`go${ENTER}`);
      await bench.sees(/^Approve write\?$/);
      await untilTrue(() => bench.lines().join(" ").includes("[c]ancel the run"), "all answers");
      const told = bench.lines().join(" ").replace(/\s+/g, " ");
      assert.match(
        told,
        /\[y\]es \[n\]o, or n and why \[a\]lways \[c\]ancel the run · always: write/,
      );
      assert.ok(!told.includes("…"), told);
    });
  }
});
