/** A whole chat in tmux: what a person types, what is on the screen, and what the scrollback has. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { createChatPlace, openChat } from "./chat-place.ts";

const held = unless(programLack("tmux"));

describe(...held("a chat in tmux (needs tmux)"), () => {
  it("asks with the diff before a file is changed, and goes on with what was said", async () => {
    await using place = await createChatPlace({ "a.txt": "one\ntwo\nthree\n" });
    await using tmux = await openChat(place);
    await tmux.type("edit please", "Enter");
    await tmux.sees(/^ {2}-two$/);
    await tmux.sees(/^ {2}\+TWO$/);
    await tmux.sees(/^Approve edit\?$/);
    assert.equal(await readFile(join(place.place.cwd, "a.txt"), "utf8"), "one\ntwo\nthree\n");
    await tmux.type("y", "Enter");
    await tmux.sees(/^The file is edited\.$/);
    assert.equal(await readFile(join(place.place.cwd, "a.txt"), "utf8"), "one\nTWO\nthree\n");
    await tmux.type("what did I say first?", "Enter");
    await tmux.sees(/^You said first: edit please$/);
    const lines = await tmux.read();
    for (const once of ["> edit please", "The file is edited.", "  +TWO"]) {
      assert.equal(lines.filter((line) => line === once).length, 1, lines.join("\n"));
    }
  });

  it("is denied with a reason, which the model is told", async () => {
    await using place = await createChatPlace({ "a.txt": "one\ntwo\nthree\n" });
    await using tmux = await openChat(place);
    await tmux.type("edit please", "Enter");
    await tmux.sees(/^Approve edit\?$/);
    await tmux.type("n, leave that file alone", "Enter");
    await tmux.sees(/It was refused: .*leave that file alone/);
    assert.equal(readFileSync(join(place.place.cwd, "a.txt"), "utf8"), "one\ntwo\nthree\n");
  });

  it("steers with Enter, queues with Tab, and gives both back with Esc", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("hold", "Enter");
    await tmux.sees(/^Holding/);
    await tmux.type("first hint", "Enter");
    await tmux.sees(/^steering: first hint$/);
    await tmux.type("after that", "Tab");
    await tmux.sees(/^queued: after that$/);
    await tmux.type("half a thou");
    await tmux.type("Escape");
    await tmux.sees(/^Stopped\.$/);
    await tmux.sees(/^> first hint$/);
    await tmux.sees(/^ {2}after that$/);
    await tmux.sees(/^ {2}half a thou$/);
  });

  it("hears what steers it at its next step, and says what was queued after it", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("hold", "Enter");
    await tmux.sees(/^Holding/);
    await tmux.type("a hint", "Enter");
    await tmux.sees(/^steering: a hint$/);
    await tmux.type("what did I say first?", "Tab");
    await tmux.sees(/^queued: what did I say first\?$/);
    place.release();
    await tmux.sees(/^Heard: a hint$/);
    await tmux.sees(/^You said first: hold$/);
    await tmux.sees(/^> *$/);
  });

  it("goes back to a turn, forks, and goes on with a session after kill -9", async () => {
    await using place = await createChatPlace();
    {
      await using tmux = await openChat(place);
      await tmux.type("say alpha", "Enter");
      await tmux.sees(/^alpha$/);
      await tmux.type("say beta", "Enter");
      await tmux.sees(/^beta$/);
      await tmux.type("/rewind", "Enter");
      await tmux.sees(/^> 2\. say beta$/);
      await tmux.type("Enter");
      await tmux.sees(/rewound to turn 1/);
      await tmux.sees(/^> say beta$/);
      await tmux.type("C-u");
      await tmux.type("how often did I speak?", "Enter");
      await tmux.sees(/^2 times$/);
      await tmux.type("/fork", "Enter");
      await tmux.sees(/^Forked: /);
      await tmux.type("how often did I speak?", "Enter");
      await tmux.sees(/^3 times$/);
      await tmux.type("hold", "Enter");
      await tmux.sees(/^Holding/);
      await tmux.kill("KILL");
    }
    await using again = await openChat(place, { more: ["-c"] });
    await again.sees(/^Going on with: say alpha/);
    await again.type("how often did I speak?", "Enter");
    await again.sees(/^5 times$/);
  });

  it("folds a paste of 10,000 lines, sends all of it, and unfolds it", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at}`).join("\n");
    await tmux.paste(`count ${lines}`);
    await tmux.sees(/^> \[paste 1: 10,000 lines\]$/);
    await tmux.type("Enter");
    await tmux.sees(/^10000 lines$/);
    await tmux.type("Up");
    await tmux.sees(/^> \[paste 1: 10,000 lines\]$/);
    await tmux.type("C-o");
    await tmux.sees(/^ {2}line 9999$/);
  });

  for (const [columns, rows] of [
    [40, 20],
    [200, 50],
  ] as const) {
    it(`has wide and combining characters and its caret in place at ${columns} columns`, async () => {
      await using place = await createChatPlace();
      await using tmux = await openChat(place, { columns, rows });
      await tmux.type("say 漢字 e\u0301 한국", "Enter");
      await tmux.sees(/^漢字 e\u0301 한국$/);
      await tmux.type("漢字ab");
      await tmux.sees(/^> 漢字ab$/);
      assert.equal((await tmux.cursor()).column, 8);
      await tmux.type("Left", "Left", "Left");
      await untilTrue(
        async () => (await tmux.cursor()).column === 4,
        "the caret after the first character",
      );
      for (const line of await tmux.read()) assert.ok([...line].length <= columns, line);
    });
  }

  it("keeps every line once where the terminal is resized while it streams", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("stream 400", "Enter");
    await tmux.sees(/^row 20 of many$/);
    for (const [columns, rows] of [
      [60, 20],
      [140, 40],
      [80, 12],
    ] as const) {
      await tmux.resize(columns, rows);
    }
    place.release();
    await tmux.sees(/^row 399 of many$/);
    await tmux.sees(/^1 turn · /);
    const rows = (await tmux.read()).filter((line) => line.startsWith("row "));
    assert.deepEqual(
      rows,
      Array.from({ length: 400 }, (_, at) => `row ${at} of many`),
    );
  });

  it("says in one line what is wrong, and keeps what was typed", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("/modle x", "Enter");
    await tmux.sees(/^Unknown command \/modle\. Did you mean \/model\?$/);
    await tmux.sees(/^> \/modle x$/);
    await tmux.type("C-u");
    await tmux.type("/resume nowhere", "Enter");
    await tmux.sees(/^There is no .*nowhere/);
    await tmux.type("keep this");
    await writeFile(join(place.place.home, "broken"), "");
    await tmux.type("C-g");
    await tmux.sees(/ended with 3; your words are as they were/);
    await tmux.sees(/^> keep this$/);
  });

  for (const signal of ["TERM", "HUP"]) {
    it(`leaves the terminal as it was after SIG${signal}`, async () => {
      await using place = await createChatPlace();
      await using tmux = await openChat(place);
      await tmux.type("typed");
      await tmux.kill(signal);
      await tmux.sees(/^over$/);
      await tmux.sees(/ icanon .* echo /);
      const lines = await tmux.read();
      assert.ok(!lines.some((line) => line.startsWith("> typed")), lines.join("\n"));
    });
  }

  it("stops with Ctrl-C, and leaves with the second", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("hold", "Enter");
    await tmux.sees(/^Holding/);
    await tmux.type("C-c");
    await tmux.sees(/^Stopped\.$/);
    // On a slow machine the time of the first is over, so that it takes two more. One that the chat does not read is
    // shown by the terminal.
    await tmux.type("C-c");
    await tmux.type("C-c");
    await tmux.sees(/^session: /);
    await tmux.sees(/over$/);
  });
});

describe("a chat in plain lines", () => {
  it("draws nothing over: no byte of it is a control but line breaks", async () => {
    await using place = await createChatPlace();
    const input = "say alpha\n/nope\nsay **beta**\n/quit\n";
    const { code, stdout } = await place.place.run([...place.args, "--plain"], { input });
    assert.equal(code, 0, stdout);
    assert.doesNotMatch(stdout.replaceAll("\n", ""), /\p{Cc}/u);
    assert.match(stdout, /^alpha$/m);
    assert.match(stdout, /^Unknown command \/nope/m);
    assert.match(stdout, /^beta$/m);
    assert.match(stdout, /^session: /m);
  });
});
