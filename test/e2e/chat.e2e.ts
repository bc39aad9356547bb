/** A whole chat in tmux: the user's input, the screen, and the scrollback. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { createChatPlace, openChat } from "./chat-place.ts";
import { startInTmux } from "./tmux.ts";

const held = unless(programLack("tmux"));

describe(...held("a chat in tmux (needs tmux)"), () => {
  it("asks with the diff before a file is changed, and continues with the answer", async () => {
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

  it("is denied with a reason, which the model gets", async () => {
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

  it("gets a steering message at its next step, and the queued one after it", async () => {
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

  it("goes back to a turn, forks, and continues a session after kill -9", async () => {
    await using place = await createChatPlace();
    {
      await using tmux = await openChat(place);
      await tmux.type("say alpha", "Enter");
      await tmux.sees(/^alpha$/);
      await tmux.type("say beta", "Enter");
      await tmux.sees(/^beta$/);
      await tmux.type("/rewind", "Enter");
      await tmux.sees(/^> turn 1, before: say beta$/);
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
    await again.sees(/^Continuing: say alpha/);
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

  it("keeps every line once if the terminal is resized while it streams", async () => {
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

  it("loses no line and keeps their order if the terminal is resized repeatedly while it streams", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("flow", "Enter");
    const sizes = [
      [60, 20],
      [140, 40],
      [41, 14],
      [90, 12],
      [200, 50],
      [70, 30],
    ] as const;
    for (const [at, [columns, rows]] of sizes.entries()) {
      await tmux.sees(new RegExp(`^row ${(at + 1) * 12}\\b`));
      await tmux.resize(columns, rows);
    }
    await tmux.sees(/^row 90\b/);
    place.release();
    await tmux.sees(/^1 turn · /);
    const rows = (await tmux.readWhole()).flatMap((line) => /^row (\d+)/.exec(line)?.[1] ?? []);
    // The last one may have been released in the middle of its number.
    const numbers = rows.map(Number).slice(0, -1);
    // A live row that tmux has wrapped at a width that it had not reported yet may appear twice.
    const once = numbers.filter((number, at) => number !== numbers[at - 1]);
    assert.deepEqual(once, [...once.keys()], rows.join(" "));
    assert.ok(once.length > 90);
  });

  it("reports errors in one line, and keeps the typed text", async () => {
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
    it(`restores the terminal after SIG${signal}`, async () => {
      await using place = await createChatPlace();
      await using tmux = await openChat(place);
      await tmux.type("typed");
      await tmux.sees(/^> typed$/);
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
    // On a slow machine the time of the first is over, so that two more are needed. Both at once: if one
    // comes after the terminal was restored, the terminal drops text that was written and not read yet.
    await tmux.type("\x03\x03");
    await tmux.sees(/^session: /);
    await tmux.sees(/over$/);
  });
});

describe(...held("a chat in plain lines on a terminal (needs tmux)"), () => {
  for (const [name, more, env] of [
    ["--plain", ["--plain"], {}],
    ["ACCESSIBLE=1", [], { ACCESSIBLE: "1" }],
  ] as const) {
    it(`writes no sequence and overwrites nothing with ${name}, even while it asks and waits`, async () => {
      await using place = await createChatPlace({ "a.txt": "one\ntwo\nthree\n" });
      const { cwd } = place.place;
      await using tmux = await startInTmux(place.place, [...place.args, ...more], [60, 24], {
        env,
      });
      await tmux.sees(/^model: custom\/test-model/);
      await tmux.type("say **alpha** and `beta`", "Enter");
      await tmux.sees(/^alpha and beta$/);
      await tmux.type("edit please", "Enter");
      await tmux.sees(/^Tool Call: edit$/);
      await tmux.sees(/Approve this tool call\?/);
      await tmux.type("y", "Enter");
      await tmux.sees(/^The file is edited\.$/);
      assert.equal(await readFile(join(cwd, "a.txt"), "utf8"), "one\nTWO\nthree\n");
      await tmux.type("stream 100", "Enter");
      await tmux.sees(/^row 50 of many$/);
      await tmux.type("typed ahead", "Enter");
      // At Ctrl-C a terminal drops typed text that was not read yet.
      await tmux.sees(/^queued: typed ahead$/);
      await tmux.type("C-c");
      await tmux.sees(/^not sent: typed ahead$/);
      await tmux.sees(/^Stopped\.$/);
      await tmux.type("/rewind 0", "Enter");
      await tmux.sees(/^1 file restored: a\.txt\.$/);
      await tmux.type("/quit", "Enter");
      await tmux.sees(/^over$/);
      const [written = ""] = (await tmux.bytes()).split("over\r\n");
      // Only line breaks, as the terminal writes ours, and Ctrl-C as the terminal shows it.
      assert.doesNotMatch(written.replaceAll("\r\n", ""), /\p{Cc}/u);
    });
  }
});

describe("a chat in plain lines", () => {
  it("overwrites nothing: none of its bytes is a control character except line breaks", async () => {
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

  it("writes one thing after the other, and chooses from lists by number", async () => {
    await using place = await createChatPlace();
    const typed = [
      "/queue say alpha",
      "how often did I speak?",
      "/rewind",
      "2",
      "say beta",
      "!echo $((6 * 7))",
      "/export all.md",
    ];
    const input = `${typed.join("\n")}\n`;
    const { code, stdout } = await place.place.run([...place.args, "--plain"], { input });
    assert.equal(code, 0, stdout);
    const said = [
      "alpha",
      "2 times",
      "Go back to a turn, by the number of its line:",
      "Your words were: how often did I speak?",
      "beta",
      "42",
    ];
    const lines = stdout.split("\n");
    const found = said.map((line) => lines.indexOf(line));
    assert.deepEqual(
      found,
      found.toSorted((a, b) => a - b),
      stdout,
    );
    assert.ok(found[0] !== -1, stdout);
    assert.match(await readFile(join(place.place.cwd, "all.md"), "utf8"), /^beta$/m);
  });
});
