/** Hooks of a user: real programs around the calls of a real run, also in a subagent's own process. */

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createPlace, type Place } from "./command.ts";

async function open(hooks: object): Promise<Place> {
  const place = await createPlace({});
  const folder = join(place.home, ".config/offshoot");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "config.yaml"), JSON.stringify({ hooks }));
  return place;
}

const WRITE = ["run", "-m", "embedded", "--approve", "auto", "create a file a.txt with the text x"];

describe("hooks", () => {
  it("deny with exit 2, and the record names the hook", async () => {
    await using place = await open({
      no: { on: "before_tool", match: "write", command: "echo not today >&2; exit 2" },
    });
    const ran = await place.run(WRITE);
    assert.match(ran.stderr, /hook no denied it: not today/);
    const why = await place.run(["runs", "why-denied", "last"]);
    assert.match(why.stdout, /by +hook/);
    await assert.rejects(readFile(join(place.cwd, "a.txt")));
  });

  it("that hang are killed with their children, and deny", async () => {
    await using place = await open({
      slow: { on: "before_tool", command: "sleep 1000 & sleep 1000", timeout: 0.3 },
    });
    const ran = await place.run(WRITE);
    assert.match(ran.stderr, /^hook slow: was stopped after 0\.3 s/m);
    await assert.rejects(readFile(join(place.cwd, "a.txt")));
  });

  it("that fail let a call continue if `on_error` says so", async () => {
    await using place = await open({
      broken: { on: "before_tool", command: "exit 7", on_error: "go_on" },
    });
    const ran = await place.run(WRITE);
    assert.match(ran.stderr, /^hook broken: exited with 7/m);
    assert.equal(await readFile(join(place.cwd, "a.txt"), "utf8"), "x");
  });

  it("fail a run before anything is sent, and see its end", async () => {
    await using place = await open({
      end: { on: "after_run", command: 'cat > "$HOME/end.json"' },
    });
    await place.run(WRITE);
    const told = JSON.parse(await readFile(join(place.home, "end.json"), "utf8"));
    assert.deepEqual([told.event, told.ending], ["after_run", "completed"]);
    await using other = await open({ no: { on: "before_run", command: "exit 2" } });
    const ran = await other.run(WRITE);
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /The run was denied: hook no denied it/);
  });

  it("of a project's file are ignored, trusted or not", async () => {
    await using place = await open({});
    await mkdir(join(place.cwd, ".offshoot"), { recursive: true });
    const hooks = { no: { on: "before_tool", command: "exit 2" } };
    await writeFile(join(place.cwd, ".offshoot/config.yaml"), JSON.stringify({ hooks }));
    await place.run(["config", "trust"]);
    const ran = await place.run(WRITE);
    assert.match(ran.stderr, /`hooks` is ignored/);
    assert.equal(await readFile(join(place.cwd, "a.txt"), "utf8"), "x");
  });
});
