/**
 * A whole conversation in tmux, at three widths: approval with its diff, stop, steer, queue, wide
 * characters, rewind, fork, `kill -9` and resume. The screen and the scrollback are compared with the
 * expected text word by word.
 */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { createChatPlace, openChat, PROSE } from "./chat-place.ts";
import type { Tmux } from "./tmux.ts";

const held = unless(programLack("tmux"));
const FIGURES = /\d+ turns? · (?:1 tool call · )?[\d,]+ tokens · [\d.]+ s · cost unknown/g;

/**
 * All text that stays: without the live rows, with one space between words, and the usage of a run as
 * `FIGURES`.
 */
async function readKept(tmux: Tmux): Promise<string> {
  const lines = await tmux.readWhole();
  const editor = lines.findLastIndex((line) => line.startsWith(">"));
  const words = lines.slice(0, editor).join(" ").replace(/\s+/g, " ").trim();
  return words.replace(FIGURES, "FIGURES");
}

const KEPT = [
  "model: custom/test-model (--model) · /help lists commands and keys",
  "> edit please",
  "Tool Call: edit why: `edit` changes files (sandbox: process)",
  "a.txt @@ -1,3 +1,3 @@ one -two +TWO three",
  "● edit a.txt",
  "The file is edited. FIGURES",
  "> hold Holding Stopped. FIGURES",
  "> hold Holding still > a hint Heard: a hint FIGURES",
  "> say queued words queued words FIGURES",
  "> say 漢字 e\u0301 한국 漢字 e\u0301 한국 FIGURES",
  "> /rewind The session is rewound to turn 5. The old session stays. No file had to be restored.",
  "> how often did I speak? 6 times FIGURES",
  "> /fork Forked: this continues in a copy, and the old session stays.",
  "> how often did I speak? 7 times FIGURES",
].join(" ");

describe(...held("a whole conversation (needs tmux)"), () => {
  for (const columns of [40, 100, 200]) {
    it(`is on the screen and in the scrollback, each line once, at ${columns} columns`, async () => {
      await using place = await createChatPlace({ "a.txt": "one\ntwo\nthree\n" });
      await using tmux = await openChat(place, { columns, rows: 24 });
      await tmux.type("edit please", "Enter");
      await tmux.sees(/^Approve edit\?$/);
      await tmux.type("y", "Enter");
      await tmux.sees(/^The file is edited\.$/);
      assert.equal(await readFile(join(place.place.cwd, "a.txt"), "utf8"), "one\nTWO\nthree\n");
      await tmux.type("hold", "Enter");
      await tmux.sees(/^Holding/);
      await tmux.type("Escape");
      await tmux.sees(/^Stopped\.$/);
      await tmux.type("hold", "Enter");
      const holding = async (): Promise<number> =>
        (await tmux.read()).filter((line) => line === "Holding").length;
      await untilTrue(async () => (await holding()) === 2, "the second answer to begin");
      await tmux.type("a hint", "Enter");
      await tmux.sees(/^steering: a hint$/);
      await tmux.type("say queued words", "Tab");
      await tmux.sees(/^queued: say queued words$/);
      place.release();
      await tmux.sees(/^queued words$/);
      await tmux.type("say 漢字 e\u0301 한국", "Enter");
      await tmux.sees(/^漢字 e\u0301 한국$/);
      await tmux.type("/rewind", "Enter");
      await tmux.sees(/^> turn \d+, before: say 漢字/);
      await tmux.type("Enter");
      // The words stand above, too, where they were said: this line comes after they are in the editor again.
      await tmux.sees(/^No file had to be restored\.$/);
      await tmux.sees(/^> say 漢字 e\u0301 한국$/);
      await tmux.type("C-u");
      await tmux.type("how often did I speak?", "Enter");
      await tmux.sees(/^6 times$/);
      await tmux.type("/fork", "Enter");
      await tmux.sees(/^Forked: /);
      await tmux.type("how often did I speak?", "Enter");
      await tmux.sees(/^7 times$/);
      // The row of the run at work goes when the run has ended, a moment after its last words.
      await untilTrue(
        async () => !(await tmux.read()).some((row) => / answering · /.test(row)),
        "idle",
      );
      assert.equal(await readKept(tmux), KEPT);
      for (const line of await tmux.read()) assert.ok([...line].length <= columns, line);
      await tmux.type("not sent");
      await tmux.kill("KILL");
      await tmux.sees(/^over$/);
      await using again = await openChat(place, { columns, rows: 24, more: ["-c"] });
      await again.sees(/^Continuing: edit please/);
      await again.type("how often did I speak?", "Enter");
      await again.sees(/^8 times$/);
    });
  }

  it("writes a long answer once, and a limited amount for each frame beside it", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    const before = (await tmux.bytes()).length;
    await tmux.type("write prose", "Enter");
    await tmux.sees(/^1 turn · /);
    // The terminal's own line discipline makes a line break of ours one byte longer.
    const written = (await tmux.bytes()).slice(before).replaceAll("\r\r\n", "\r\n");
    // The number of frames depends on the machine: a slow one has more, with less in each.
    const bytes = Buffer.byteLength(written);
    const frames = written.split("\x1b[?2026h").length;
    const most = PROSE.length * 1.2 + frames * 200;
    assert.ok(bytes <= most, `${bytes} bytes for ${PROSE.length} characters, ${frames} frames`);
    const kept = (await tmux.readWhole()).filter((line) => line.startsWith("Paragraph "));
    assert.deepEqual(
      kept.map((line) => line.slice(0, 13)),
      Array.from({ length: 1000 }, (_, at) => `Paragraph ${String(at).padStart(3, "0")}`),
    );
  });

  it("ends the run as cancelled if the terminal is closed in the middle", async () => {
    await using place = await createChatPlace();
    await using tmux = await openChat(place);
    await tmux.type("hold", "Enter");
    await tmux.sees(/^Holding/);
    await tmux.close();
    const [id = ""] = await place.place.runIds();
    const { events } = await place.place.show(id);
    const last = events.at(-1);
    assert.equal(last?.type === "run_end" ? last.ending : last?.type, "cancelled");
  });
});
