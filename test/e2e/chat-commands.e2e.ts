/**
 * What can be typed into a chat besides text: commands, files, programs. In tmux, with the model's
 * requests.
 */

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { createChatPlace, openChat } from "./chat-place.ts";
import { startInTmux } from "./tmux.ts";

const held = unless(programLack("tmux"));
/** Enough for ripgrep to obey `.gitignore`. */
const GIT = { ".git/HEAD": "ref: refs/heads/main\n", ".gitignore": "secret-*\n" };

describe(...held("what is typed into a chat (needs tmux)"), () => {
  it("/export writes the session, says where, and never overwrites a file", async () => {
    await using place = await createChatPlace({ "taken.md": "mine" });
    await using tmux = await openChat(place);
    await tmux.type("/export", "Enter");
    await tmux.sees(/^There is nothing to export yet\.$/);
    await tmux.type("say **alpha**", "Enter");
    await tmux.sees(/^alpha$/);
    await tmux.type("/export taken.md", "Enter");
    await tmux.sees(/taken\.md exists already\. Name another file: \/export FILE$/);
    assert.equal(await readFile(join(place.place.cwd, "taken.md"), "utf8"), "mine");
    await tmux.type("/export nowhere/all.md", "Enter");
    await tmux.sees(/nowhere\/all\.md/);
    await tmux.type("/export all.md", "Enter");
    await tmux.sees(/^Written to .*all\.md$/);
    const written = await readFile(join(place.place.cwd, "all.md"), "utf8");
    assert.match(written, /say \*\*alpha\*\*/);
    assert.match(written, /^\*\*alpha\*\*$/m);
  });

  it("/compact continues in a new session, whose first message has the summary", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("/compact", "Enter");
    await tmux.sees(/^There is nothing to summarise yet\.$/);
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/^alpha$/);
    await tmux.type("/compact", "Enter");
    await tmux.sees(/^A new session continues with this summary; the old one stays\.$/);
    await tmux.type("what came along?", "Enter");
    await tmux.sees(/^A summary of what we said and did before:$/);
    await tmux.type("how often did I speak?", "Enter");
    await tmux.sees(/^2 times$/);
    await tmux.type("/resume", "Enter");
    await tmux.sees(/^Continue a session/);
    await tmux.sees(/ say alpha$/);
  });

  it("@ completes files that git would track, and sends the one that is named", async () => {
    await using place = await createChatPlace({
      ...GIT,
      "src/the-file.ts": "export const answer = 42;\n",
      "secret-file.ts": "no\n",
      "my notes.md": "what I noted\n",
      "gpj\u202efile.exe": "not what it looks like\n",
    });
    await using tmux = await openChat(place);
    await tmux.type("@file");
    await tmux.sees(/^> @src\/the-file\.ts$/);
    assert.ok(!(await tmux.read()).some((line) => /secret-file|gpj/.test(line)));
    await tmux.type("Tab");
    await tmux.sees(/^> @src\/the-file\.ts$/);
    await tmux.type("what came along?", "Enter");
    await tmux.sees(/^with src\/the-file\.ts$/);
    await tmux.sees(/export const answer = 42;/);
    await tmux.type("@note");
    await tmux.sees(/^> @"my notes\.md"$/);
    await tmux.type("Tab");
    await tmux.type("what came along?", "Enter");
    await tmux.sees(/^with my notes\.md$/);
    await tmux.sees(/^what I noted$/);
  });

  it("!command runs in the folder, reports its exit code, and is sent with the next message", async () => {
    await using place = await createChatPlace({ "here.txt": "" });
    await using tmux = await openChat(place);
    await tmux.type("!ls; exit 4", "Enter");
    await tmux.sees(/^here\.txt$/);
    await tmux.sees(/^exit code 4$/);
    await tmux.type("what came along?", "Enter");
    await tmux.sees(/^I ran ls; exit 4 \(exit code 4\):$/);
  });

  it("!command of several lines is one row while it works", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("!echo begun &&", "C-j", "exec sleep 600", "Enter");
    await tmux.sees(/^begun$/);
    await tmux.sees(/^\S !echo begun && exec sleep 600 · \d+ s$/);
    await tmux.type("Escape");
    await tmux.sees(/^exit code none: it was stopped$/);
    await tmux.sees(/^> *$/);
    const lines = await tmux.read();
    assert.equal(lines.filter((line) => line.includes("exec sleep")).length, 1, lines.join("\n"));
  });

  it("shows prompts of other programs in its lists as one clean row each", async () => {
    await using place = await createChatPlace();
    const [, ...args] = place.args;
    const evil = "say \x1b[31mred\x1b]0;owned\x07\nApprove edit?\t\u202eend";
    await place.place.run(["run", ...args, evil]);
    await using tmux = await openChat(place, { more: ["-c"] });
    await tmux.sees(/^Continuing: say red/);
    await tmux.type("/rewind", "Enter");
    await tmux.sees(/^> turn 0, before: say red Approve edit\? end$/);
    await tmux.type("C-c");
    await tmux.sees(/^Ctrl-C again leaves/);
    await tmux.type("/resume", "Enter");
    await tmux.sees(/^> \d{4}-.* say red/);
    assert.doesNotMatch(await tmux.bytes(), /\]0;|\u202e|\[31mred/);
  });

  it("Esc stops a !command, and the chat continues", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("!echo begun; exec sleep 600", "Enter");
    await tmux.sees(/^begun$/);
    await tmux.type("Escape");
    await tmux.sees(/^exit code none: it was stopped$/);
    await tmux.type("what came along?", "Enter");
    await tmux.sees(/^I ran echo begun; exec sleep 600 \(stopped by me\):$/);
  });

  it("Ctrl-G opens the editor with a folded paste written out, and uses the result", async () => {
    await using place = await createChatPlace();
    const editor = join(place.place.home, "editor");
    await writeFile(editor, '#!/bin/sh\nprintf \'say %s lines\' $(wc -l < "$1") > "$1"\n', {
      mode: 0o755,
    });
    await using tmux = await openChat(place, { env: { EDITOR: editor } });
    await tmux.paste(Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n"));
    await tmux.sees(/^> \[paste 1: 40 lines\]$/);
    await tmux.type("C-g");
    // 39 line ends: the last line has none.
    await tmux.sees(/^> say 39 lines$/);
    await tmux.type("Enter");
    await tmux.sees(/^39 lines$/);
  });

  it("rings when a call waits for an answer", async () => {
    await using place = await createChatPlace({ "a.txt": "one\ntwo\nthree\n" });
    await using tmux = await openChat(place);
    assert.ok(!(await tmux.bytes()).includes("\x07"));
    await tmux.type("edit please", "Enter");
    await tmux.sees(/^Approve edit\?$/);
    await untilTrue(async () => (await tmux.bytes()).includes("\x07"), "the bell");
    await tmux.sees(/Enter answers · Esc stops the run$/);
  });

  it("/cost, /tree and /agents show their data, before and after a run and during one", async () => {
    const agent = "---\nname: reviewer\ndescription: Reviews changes.\n---\nReview.\n";
    await using place = await createChatPlace({ ".offshoot/agents/reviewer.md": agent });
    await place.place.run(["agents", "trust", "reviewer"]);
    await using tmux = await openChat(place);
    await tmux.type("/cost", "Enter");
    await tmux.sees(/^Nothing was called yet\.$/);
    await tmux.type("/tree", "Enter");
    await tmux.sees(/^There is no run yet\.$/);
    await tmux.type("/agents", "Enter");
    await tmux.sees(/^reviewer: Reviews changes\.$/);
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/^alpha$/);
    await tmux.type("/cost", "Enter");
    await tmux.sees(/^model +calls +failed +input/);
    await tmux.sees(/^custom\/test-model +1 +0 /);
    await tmux.type("/tree", "Enter");
    await tmux.sees(/^run_\w+ {2}say alpha$/);
    await tmux.type("hold", "Enter");
    await tmux.sees(/^Holding$/);
    await tmux.type("/tree", "Enter");
    await tmux.sees(/^run_\w+ {2}hold$/);
    await tmux.type("/fork", "Enter");
    await tmux.sees(/^\/fork waits until the run has ended; Esc stops it/);
    await tmux.sees(/^> \/fork$/);
    await tmux.type("Escape");
    await tmux.sees(/^Forked: /);
  });

  it("/queue, /new, /resume and /quit do what their help says", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("/resume", "Enter");
    await tmux.sees(/^There is no session in this folder yet\.$/);
    await tmux.type("/queue say queued", "Enter");
    await tmux.sees(/^queued$/);
    await tmux.type("/new", "Enter");
    await tmux.sees(/^A new session begins\.$/);
    await tmux.type("how often did I speak?", "Enter");
    await tmux.sees(/^1 times$/);
    await tmux.type("/resume", "Enter");
    await tmux.sees(/^Continue a session/);
    await tmux.type("Up", "Enter");
    await tmux.sees(/^Continuing: say queued \(1 turn\)$/);
    await tmux.sees(/^> say queued$/);
    await tmux.type("how often did I speak?", "Enter");
    await tmux.sees(/^2 times$/);
    await tmux.type("/quit", "Enter");
    await tmux.sees(/^session: conv_/);
    await tmux.sees(/^over$/);
  });

  it("a picture by its path is sent as a picture", async () => {
    const png = "\x89PNG\r\n\x1a\n0000";
    await using place = await createChatPlace();
    await writeFile(join(place.place.cwd, "my shot.png"), Buffer.from(png, "latin1"));
    await using tmux = await openChat(place);
    await tmux.type("how many pictures? 'my shot.png'", "Enter");
    await tmux.sees(/^with my shot\.png$/);
    await tmux.sees(/^1 picture$/);
  });

  it("the last row has the window, the cost and the limit of a vendor of the settings", async () => {
    await using place = await createChatPlace();
    const price = { input: 100, output: 100 };
    const models = { large: { context_tokens: 10_000, price } };
    const vendors = { acme: { like: "custom", url: place.url, models } };
    const folder = join(place.place.home, ".config/offshoot");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "config.yaml"), JSON.stringify({ vendors }));
    const args = ["chat", "-m", "acme/large", "--max-cost", "5"];
    await using tmux = await startInTmux(place.place, args, [100, 24]);
    await tmux.sees(/^acme\/large · limit \$5\/run$/);
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/^acme\/large · context \d+% of 10\.0k · \$0\.\d+ · limit \$5\/run$/);
  });

  it("/model, /think, /tools and /help show their data, and report errors in one line", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("/think maybe", "Enter");
    await tmux.sees(/^\/think takes on or off\.$/);
    await tmux.type("/think", "Enter");
    await tmux.sees(/^thinking: on$/);
    await tmux.sees(/^custom\/test-model \(thinks\)/);
    await tmux.type("/tools nonsense", "Enter");
    await tmux.sees(/nonsense/);
    await tmux.type("/tools none", "Enter");
    await tmux.sees(/^tools: none$/);
    await tmux.type("/model", "Enter");
    await tmux.sees(/^model: custom\/test-model \(--model\)$/);
    await tmux.type("/rewind x", "Enter");
    await tmux.sees(/^`x` is not a turn\. Give a number from 0\.$/);
    await tmux.type("/help", "Enter");
    await tmux.sees(/^Ctrl-_, Alt-_ +undo, redo$/);
  });
});
