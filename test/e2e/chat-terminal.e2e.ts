/**
 * The state of the terminal and the typed text after a chat: after Ctrl-Z, crashes, kills, editors and a
 * closed window.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { createChatPlace, openChat } from "./chat-place.ts";
import type { Tmux } from "./tmux.ts";

const held = unless(programLack("tmux", "stty"));
const run = promisify(execFile);

/** Switches off bracketed paste and the keyboard protocols. */
const OFF = "\x1b[>4;0m\x1b[<u\x1b[?2004l";

async function checkGivenBack(tmux: Tmux): Promise<void> {
  await untilTrue(async () => isLineByLine(await tmux.modes()), "the terminal to be given back");
  assert.ok((await tmux.bytes()).includes(OFF));
}

function isLineByLine(modes: string): boolean {
  const on = new Set(modes.split(/[\s;]+/));
  return ["icanon", "isig", "echo", "ixon", "icrnl"].every((mode) => on.has(mode));
}

describe(...held("the terminal of a chat (needs tmux)"), () => {
  it("is restored after kill -9, and the session continues", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/^alpha$/);
    assert.ok(!isLineByLine(await tmux.modes()));
    await tmux.kill("KILL");
    await tmux.sees(/^over$/);
    await checkGivenBack(tmux);
    const { stdout } = await place.place.run(["sessions", "list"]);
    assert.match(stdout, /say alpha/);
  });

  it("is restored after a crash of the program, which reports it", async () => {
    await using place = await createChatPlace();
    const crash = join(place.place.home, "crash.mjs");
    await writeFile(crash, 'process.on("SIGUSR2", () => { throw new Error("a bug of ours"); });\n');
    await using tmux = await openChat(place, { env: { NODE_OPTIONS: `--import=${crash}` } });
    await tmux.type("typed");
    await tmux.sees(/^> typed$/);
    await tmux.kill("USR2");
    await tmux.sees(/a bug of ours/);
    await tmux.sees(/^over$/);
    await checkGivenBack(tmux);
    const lines = await tmux.read();
    assert.ok(!lines.some((line) => line.startsWith("> typed")), lines.join("\n"));
  });

  it("belongs to the shell after Ctrl-Z, and has each row once after fg", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place, { isJob: true });
    await tmux.type("hold", "Enter");
    await tmux.sees(/^Holding$/);
    await tmux.type("half a thou");
    await tmux.type("C-z");
    await tmux.sees(/^stopped$/);
    assert.ok(isLineByLine(await tmux.modes()));
    const away = await tmux.read();
    assert.ok(!away.some((line) => line.startsWith("> half")), away.join("\n"));
    await tmux.type("Enter");
    await tmux.sees(/^> half a thou$/);
    await untilTrue(async () => !isLineByLine(await tmux.modes()), "the keys to be read again");
    await tmux.type("ght");
    await tmux.sees(/^> half a thought$/);
    const lines = await tmux.read();
    for (const once of ["Holding", "> half a thought"])
      assert.equal(lines.filter((line) => line === once).length, 1, lines.join("\n"));
  });

  it("belongs to an open editor: Ctrl-C there ends only the editor", async () => {
    await using place = await createChatPlace();
    const editor = join(place.place.home, "editor");
    await writeFile(editor, "#!/bin/sh\necho editing\nexec sleep 600\n", { mode: 0o755 });
    await using tmux = await openChat(place, { env: { EDITOR: editor } });
    await tmux.type("keep this", "C-g");
    await tmux.sees(/^editing$/);
    assert.ok(isLineByLine(await tmux.modes()));
    await tmux.type("C-c");
    await tmux.sees(/ended with a signal; your words are as they were\.$/);
    await tmux.sees(/^> keep this$/);
    await tmux.type("C-u");
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/^alpha$/);
  });

  it("closed in the middle loses nothing: the next chat has the text in its history", async () => {
    await using place = await createChatPlace();
    {
      await using tmux = await openChat(place);
      await tmux.type("hold", "Enter");
      await tmux.sees(/^Holding$/);
      await tmux.type("after that", "Tab");
      await tmux.sees(/^queued: after that$/);
      await tmux.type("half a thou");
      await tmux.sees(/^> half a thou$/);
      await tmux.close();
    }
    await using again = await openChat(place, { more: ["-c"] });
    await again.sees(/^Continuing: hold/);
    await again.type("Up");
    await again.sees(/^> after that$/);
    await again.sees(/^ {2}half a thou$/);
  });

  it("has the unsent text if nothing is stored, and no file has a prompt", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place, { more: ["--no-store"] });
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/^alpha$/);
    await tmux.type("half a thou");
    await tmux.sees(/^> half a thou$/);
    await tmux.kill("TERM");
    await tmux.sees(/^not sent: half a thou$/);
    await tmux.sees(/^over$/);
    assert.ok(!(await tmux.read()).some((line) => line.startsWith("session:")));
    const { stdout } = await run("grep", ["-rl", "say alpha", place.place.home]).catch(() => ({
      stdout: "",
    }));
    // The log of the terminal is the test's own.
    assert.equal(stdout.trim(), join(place.place.home, "bytes"));
  });

  it("that is closed under an editor ends the chat with its run", async () => {
    await using place = await createChatPlace();
    const editor = join(place.place.home, "editor");
    await writeFile(editor, "#!/bin/sh\necho editing\nexec sleep 600\n", { mode: 0o755 });
    await using tmux = await openChat(place, { env: { EDITOR: editor } });
    await tmux.type("hold", "Enter");
    await tmux.sees(/^Holding$/);
    await tmux.type("keep this", "C-g");
    await tmux.sees(/^editing$/);
    await tmux.close();
    const [id = ""] = await place.place.runIds();
    const { events } = await place.place.show(id);
    const last = events.at(-1);
    assert.equal(last?.type === "run_end" ? last.ending : last?.type, "cancelled");
    const data = join(place.place.home, ".local/share/offshoot/chat-history.jsonl");
    assert.match(await readFile(data, "utf8"), /"keep this"/);
  });
});
