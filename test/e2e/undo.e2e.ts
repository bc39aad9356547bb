/** Undo for users: `offshoot undo` after a real shell, and `/rewind` of a chat in tmux with its files. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, unless } from "../needs.ts";
import { untilTrue } from "../patience.ts";
import { createChatPlace } from "./chat-place.ts";
import { createPlace } from "./command.ts";
import { startInTmux, type Tmux } from "./tmux.ts";

const held = unless(programLack("tmux"));
const OLD = "one\ntwo\nthree\n";
const NEW = "one\nTWO\nthree\n";

describe("offshoot undo", () => {
  it("undoes a command's changes, refuses if the user changed a file, and undoes the undo", async () => {
    await using place = await createPlace({ "a.txt": OLD, "sub/b.txt": "b\n" });
    const read = (path: string): Promise<string> => readFile(join(place.cwd, path), "utf8");
    const command = "echo more >> a.txt; rm sub/b.txt; mkdir made; echo c > made/c.txt";
    const words = ["run", "-m", "embedded", "--approve", "auto", `run \`${command}\``];
    const ran = await place.run(words);
    assert.equal(existsSync(join(place.cwd, "made/c.txt")), true, ran.stdout + ran.stderr);
    const planned = await place.run(["undo", "--dry-run"]);
    assert.match(planned.stdout, /^restored {2}a\.txt$/m);
    assert.equal(existsSync(join(place.cwd, "made/c.txt")), true);

    await writeFile(join(place.cwd, "a.txt"), "mine\n");
    const refused = await place.run(["undo"]);
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /^offshoot: Not undone, and nothing was changed: a\.txt was changed/m,
    );
    assert.equal(await read("a.txt"), "mine\n");
    assert.equal(existsSync(join(place.cwd, "made/c.txt")), true);

    await writeFile(join(place.cwd, "a.txt"), `${OLD}more\n`);
    const undone = await place.run(["undo"]);
    assert.equal(undone.code, 0, undone.stderr);
    assert.equal(await read("a.txt"), OLD);
    assert.equal(await read("sub/b.txt"), "b\n");
    assert.equal(existsSync(join(place.cwd, "made")), false);

    await place.run(["undo", "last/undo-1"]);
    assert.equal(await read("a.txt"), `${OLD}more\n`);
    assert.equal(await read("made/c.txt"), "c\n");
  });
});

describe(...held("/rewind in tmux (needs tmux)"), () => {
  it("restores conversation and files together, and asks if the user changed a file", async () => {
    await using place = await createChatPlace({ "a.txt": OLD });
    const file = join(place.place.cwd, "a.txt");
    await using tmux = await startInTmux(place.place, place.args, [100, 40]);
    await tmux.sees(/test-model/);
    await tmux.type("say alpha", "Enter");
    await tmux.sees(/^alpha$/);
    await tmux.type("edit please", "Enter");
    await tmux.sees(/^Approve edit\?$/);
    await tmux.type("y", "Enter");
    await tmux.sees(/^The file is edited\.$/);
    assert.equal(await readFile(file, "utf8"), NEW);
    await tmux.type("/rewind 1", "Enter");
    await tmux.sees(/^The session is rewound to turn 1\./);
    await tmux.sees(/^1 file restored: a\.txt\.$/);
    assert.equal(await readFile(file, "utf8"), OLD);
    await tmux.type("how often did I speak?", "Enter");
    await tmux.sees(/^2 times$/);

    await tmux.type("edit please", "Enter");
    await tmux.sees(/^Approve edit\?$/);
    await tmux.type("y", "Enter");
    // The second time: the first answer is still on the screen.
    await seesTwice(tmux, /^The file is edited\.$/);
    await writeFile(file, "mine\n");
    await tmux.type("/rewind 1", "Enter");
    await tmux.sees(/^Not rewound, and nothing was changed:$/);
    await tmux.sees(/^a\.txt was changed since$/);
    assert.equal(await readFile(file, "utf8"), "mine\n");
    await tmux.sees(/^> Rewind only the conversation/);
    await tmux.type("Up");
    await tmux.sees(/^> Restore the files anyway/);
    await tmux.type("Enter");
    await seesTwice(tmux, /^1 file restored: a\.txt\.$/);
    assert.equal(await readFile(file, "utf8"), OLD);
  });
});

async function seesTwice(tmux: Tmux, pattern: RegExp): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await tmux.read()).filter((line) => pattern.test(line)).length === 2;
  await untilTrue(isThere, `two lines like ${pattern}`);
}
