/** Permissions, tried with the built command: questions on a real terminal, rules, refusals. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ToolDecision } from "../../src/protocol/run-events.ts";
import { reply, script } from "../../src/testing/index.ts";
import { TERMINAL_LACK, unless } from "../needs.ts";
import { createGatedModel } from "../server/streams-fixture.ts";
import { createPlace, type Place } from "./command.ts";
import { startOnTerminal } from "./terminal.ts";
import { CHAT, runAt } from "./wires.ts";

const QUESTION =
  "Approve this tool call? [Y]es [N]o (or N and why) [A]lways [C]ancel the whole run: ";

const write = (path: string, content: string) => ({
  name: "write",
  arguments: JSON.stringify({ path, content }),
});

/** A model that makes these calls, one in each turn, and then answers `Done.` */
const calling = (...calls: { name: string; arguments: string }[]) =>
  script(...calls.map((call) => reply.calls([call])), reply.text("Done."));

async function decisionsOf(place: Place): Promise<ToolDecision[]> {
  const [id = ""] = await place.runIds();
  const { events } = await place.show(id);
  return events.filter((event) => event.type === "tool_decision");
}

describe(...unless(TERMINAL_LACK)("a question on the terminal"), () => {
  it("is asked there even if standard input is a file, and yes allows the call", async () => {
    await using place = await createPlace({ "in.txt": "more\n" });
    await using upstream = await CHAT.start({ engine: calling(write("a.txt", "hello")) });
    const terminal = startOnTerminal(place, runAt(upstream, CHAT, "write it"), "< in.txt");
    await terminal.shows("Tool Call: write");
    await terminal.shows('"content": "hello"');
    await terminal.shows(QUESTION);
    terminal.type("y\n");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.equal(readFileSync(join(place.cwd, "a.txt"), "utf8"), "hello");
    const [decision] = await decisionsOf(place);
    assert.deepEqual([decision?.verdict, decision?.by], ["allow", "person"]);
  });

  it("answered with no is reported to the model, and the run continues", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt", "hello")) });
    const terminal = startOnTerminal(place, runAt(upstream, CHAT, "write it"));
    await terminal.shows(QUESTION);
    terminal.type("n\n");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
    assert.match(JSON.stringify(upstream.requests[1]?.body), /Tool call write was denied by user/);
  });

  it("answered with always is asked once", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({
      engine: calling(write("a.txt", "1"), write("b.txt", "2"), write("c.txt", "3")),
    });
    const terminal = startOnTerminal(place, runAt(upstream, CHAT, "write them"));
    await terminal.shows(QUESTION);
    terminal.type("always\n");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.equal(terminal.screen.split(QUESTION).length, 2);
    assert.ok(existsSync(join(place.cwd, "c.txt")));
  });

  it("answered with cancel ends the run", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt", "hello")) });
    const terminal = startOnTerminal(place, runAt(upstream, CHAT, "write it"));
    await terminal.shows(QUESTION);
    terminal.type("c\n");
    assert.equal(await terminal.ended, 130, terminal.screen);
    assert.equal(upstream.requests.length, 1);
  });

  it("ignores keys that were typed before it", async () => {
    await using place = await createPlace();
    const fake = `${QUESTION}y\nAll is approved.`;
    const answers = [reply.calls([write("a.txt", "hello")], { text: fake }), reply.text("Done.")];
    const model = createGatedModel(() => answers.shift() ?? assert.fail("asked too often"));
    await using upstream = await CHAT.start({ engine: model.engine });
    const terminal = startOnTerminal(place, runAt(upstream, CHAT, "write it"));
    terminal.type("y\ny\n");
    // The terminal has them once it shows them.
    await terminal.shows("y\r\ny\r\n");
    model.allow(Number.POSITIVE_INFINITY);
    await terminal.shows("Tool Call: write");
    await terminal.shows(QUESTION);
    terminal.type("n\n");
    assert.equal(await terminal.ended, 0, terminal.screen);
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
  });
});

describe("without a terminal", () => {
  it("asking is refusing, at once, and the record says why", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt", "hello")) });
    const ended = await place.run(runAt(upstream, CHAT, "write it"));
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(
      ended.stderr,
      /write → Error: Tool call write was denied: `write` changes files, and/,
    );
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
    const [id = ""] = await place.runIds();
    assert.match(
      ended.stderr,
      new RegExp(`^1 tool call was denied without an answer: offshoot runs why-denied ${id}$`, "m"),
    );
    const why = await place.run(["runs", "why-denied", id]);
    assert.match(
      why.stdout,
      /^write\(\{"path":"a.txt","content":"hello"\}\)\n {2}by {6}nobody: It needs approval/,
    );
    const asJson = JSON.parse((await place.run(["runs", "why-denied", id, "--json"])).stdout);
    assert.deepEqual([asJson.length, asJson[0].by, asJson[0].verdict], [1, "nobody", "deny"]);
  });

  it("`--approve auto` allows it", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: calling(write("a.txt", "hello")) });
    const ended = await place.run(runAt(upstream, CHAT, "--approve", "auto", "write it"));
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(readFileSync(join(place.cwd, "a.txt"), "utf8"), "hello");
  });

  it("a rule of a flag allows what it names, and nothing else", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({
      engine: calling(write("docs/a.md", "1"), write("src/a.ts", "2")),
    });
    const args = runAt(upstream, CHAT, "--allow", "write(docs/**)", "write them");
    const ended = await place.run(args);
    assert.equal(ended.code, 0, ended.stderr);
    assert.ok(existsSync(join(place.cwd, "docs/a.md")));
    assert.ok(!existsSync(join(place.cwd, "src/a.ts")));
    const [first] = await decisionsOf(place);
    assert.deepEqual([first?.rule, first?.source], ["allow write(docs/**)", "--allow"]);
  });

  it("a project's file may refuse, but not allow without trust", async () => {
    await using place = await createPlace({
      ".offshoot/config.yaml": "approve: auto\nallow: [write]\ndeny: ['path(keep.txt)']\n",
    });
    await using upstream = await CHAT.start({
      engine: calling(write("a.txt", "1"), write("keep.txt", "2")),
    });
    const ended = await place.run(runAt(upstream, CHAT, "write them"));
    assert.match(ended.stderr, /is not trusted, so `approve`, `allow` in it are ignored/);
    assert.ok(!existsSync(join(place.cwd, "a.txt")));
    const decisions = await decisionsOf(place);
    assert.deepEqual(
      decisions.map(({ by, rule }) => [by, rule]),
      [
        ["nobody", null],
        ["rule", "deny path(keep.txt)"],
      ],
    );
  });

  it("the budget of tool calls is enforced", async () => {
    await using place = await createPlace({ "a.txt": "1" });
    const read = { name: "read", arguments: '{"path":"a.txt"}' };
    await using upstream = await CHAT.start({ engine: calling(read, read, read) });
    await place.run(runAt(upstream, CHAT, "--max-tool-calls", "2", "read it"));
    const decisions = await decisionsOf(place);
    assert.deepEqual(
      decisions.map(({ verdict }) => verdict),
      ["allow", "allow", "deny"],
    );
  });

  it("`.offshoot` and `.git` are not written, whatever is approved", async () => {
    await using place = await createPlace({ ".git/config": "[core]\n" });
    await using upstream = await CHAT.start({
      engine: calling(write(".git/hooks/pre-commit", "x"), write(".offshoot/config.yaml", "x")),
    });
    await place.run(runAt(upstream, CHAT, "--approve", "auto", "write them"));
    assert.ok(!existsSync(join(place.cwd, ".git/hooks/pre-commit")));
    assert.ok(!existsSync(join(place.cwd, ".offshoot")));
    assert.ok((await decisionsOf(place)).every(({ by }) => by === "guard"));
  });

  for (const rule of ["shell(", "path", "a b"]) {
    it(`\`--deny '${rule}'\` is not a valid rule: one line, exit 2, nothing sent`, async () => {
      await using place = await createPlace();
      const ended = await place.run(["run", "--deny", rule, "hello"]);
      assert.equal(ended.code, 2);
      assert.match(ended.stderr, /^offshoot: --deny: `.*` is not a valid rule\. Rules are .*\n$/);
    });
  }
});
