/** Sessions in daily use: the built command, a killed process, two at once, a server on the same record. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { reply, script, startMessagesUpstream, type Upstream } from "../../src/testing/index.ts";
import { createPlace, type Ended, type Place } from "./command.ts";
import { serve } from "./served.ts";
import { CHAT, RESPONSES, runAt } from "./wires.ts";

const FILES = { "a.txt": "hello\n" };
const call = reply.calls([{ name: "read", arguments: { path: "a.txt" } }]);

/** The role and text of each message in a request of the chat API. */
function saidIn({ requests }: Upstream, number: number): string[] {
  const messages = requests[number - 1]?.body["messages"] as readonly JsonObject[];
  return messages
    .filter(({ role }) => role !== "system" && role !== "developer")
    .map(({ role, content, tool_calls }) => `${role}: ${tool_calls ? "call" : content}`);
}

interface Listed {
  readonly id: string;
  readonly title: string;
  readonly runs: readonly string[];
}

async function sessionsOf(place: Place, ...more: string[]): Promise<readonly Listed[]> {
  const { stdout, stderr } = await place.run(["sessions", "list", "--json", ...more]);
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout) as readonly Listed[];
}

function checkRefused({ code, stdout, stderr }: Ended, exit: number, says: RegExp): void {
  assert.deepEqual([code, stdout], [exit, ""], stderr);
  assert.match(stderr, /^offshoot: [^\n]+\n$/);
  assert.match(stderr, says);
}

describe("run -c", () => {
  it("continues the last session of the folder, also after kill -9", async () => {
    await using place = await createPlace(FILES);
    const replies = [call, reply.silence("It sa"), reply.text("It says hello.")];
    await using upstream = await CHAT.start({ engine: script(...replies) });
    const killed = place.start(runAt(upstream, CHAT, "-o", "jsonl", "What does a.txt say?"));
    await killed.waitForStdout("It sa");
    killed.child.kill("SIGKILL");
    await killed.ended;
    const { code, stdout, stderr } = await place.run(runAt(upstream, CHAT, "-c", "Go on"));
    assert.deepEqual([code, stdout], [0, "It says hello.\n"], stderr);
    const [asked, called, result = "", next, ...rest] = saidIn(upstream, 3);
    assert.deepEqual([asked, called], ["user: What does a.txt say?", "assistant: call"]);
    assert.match(result, /^tool: .*hello/);
    // A message in progress at the kill is not a part of the session.
    assert.deepEqual([next, rest], ["user: Go on", []]);
    const [session] = await sessionsOf(place);
    assert.equal(session?.runs.length, 2);
    assert.equal((await place.show(session?.runs[0] ?? "")).ending, "cancelled");
  });

  it("says which model answered before, if this run asks another one", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.text("One.")) });
    await place.run(runAt(upstream, CHAT, "first"));
    const other = await place.run(["run", "-m", "embedded", "-c", "hello"]);
    assert.match(other.stderr, /^The last answer of this session came from custom\/\S+\.$/m);
    const same = await place.run(["run", "-m", "embedded", "-c", "hello"]);
    assert.match(same.stderr, /^session: /m);
    assert.doesNotMatch(same.stderr, /last answer/);
  });

  it("continues in a fork while another process works in the session, and says so", async () => {
    await using place = await createPlace();
    const replies = [reply.text("One."), reply.silence("Tw"), reply.text("Three.")];
    await using upstream = await CHAT.start({ engine: script(...replies) });
    await place.run(runAt(upstream, CHAT, "first"));
    const busy = place.start(runAt(upstream, CHAT, "-c", "second"));
    await upstream.waitForRequest(2);
    const { code, stdout, stderr } = await place.run(runAt(upstream, CHAT, "-c", "third"));
    assert.deepEqual([code, stdout], [0, "Three.\n"], stderr);
    assert.match(stderr, /^session: conv_\w+ \(a fork: another run of conv_\w+ is at work\)/m);
    assert.deepEqual(saidIn(upstream, 3), ["user: first", "assistant: One.", "user: third"]);
    busy.child.kill("SIGKILL");
  });

  it("continues over another vendor's API", async () => {
    await using place = await createPlace(FILES);
    await using first = await CHAT.start({ engine: script(call, reply.text("It says hello.")) });
    await using second = await RESPONSES.start({ engine: script(reply.text("Two.")) });
    await using third = await startMessagesUpstream({ engine: script(reply.text("Three.")) });
    await place.run(runAt(first, CHAT, "What does a.txt say?"));
    const two = await place.run(runAt(second, RESPONSES, "-c", "And now?"));
    assert.equal(two.stdout, "Two.\n", two.stderr);
    const anthropic = { provider: "anthropic" } as typeof CHAT;
    const three = await place.run(runAt(third, anthropic, "-c", "And then?"));
    assert.equal(three.stdout, "Three.\n", three.stderr);
    const body = JSON.stringify(third.requests[0]?.body["messages"]);
    for (const words of ["What does a.txt say?", "hello", "It says hello.", "Two.", "And then?"]) {
      assert.ok(body.includes(words), words);
    }
  });

  it("is refused in one line if there is nothing to continue", async () => {
    await using place = await createPlace();
    const embedded = ["run", "-q", "-m", "embedded"];
    checkRefused(await place.run([...embedded, "-c", "x"]), 2, /no session in this folder yet/);
    const off = await place.run([...embedded, "--no-store", "-c", "x"]);
    checkRefused(off, 2, /-c needs the record of runs, which is switched off/);
    const gone = await place.run([...embedded, "--session", "conv_gone", "x"]);
    checkRefused(gone, 2, /There is no session `conv_gone`/);
    const both = await place.run([...embedded, "-c", "--session", "last", "x"]);
    checkRefused(both, 2, /either -c or --session/);
  });
});

describe("offshoot sessions", () => {
  it("lists, searches, shows, renames, exports, forks and deletes", async () => {
    await using place = await createPlace();
    const say = (...args: string[]): Promise<Ended> =>
      place.run(["run", "-m", "embedded", ...args]);
    await say("my name is Ada");
    await say("-c", "what is my name?");
    const fork = await say("--fork", "1", "what is my name?");
    assert.match(fork.stderr, /\(a fork of conv_\w+ at turn 1\)/);
    const [newest, first] = await sessionsOf(place, "--folder", ".", "--day", "today");
    assert.equal(first?.runs.length, 2);
    assert.deepEqual(await sessionsOf(place, "--search", "no such words"), []);
    assert.deepEqual(await sessionsOf(place, "--folder", "elsewhere"), []);
    const found = await sessionsOf(place, "--search", "ADA", "-n", "1");
    assert.equal(found[0]?.id, newest?.id);
    const shown = await place.run(["sessions", "show", first?.id ?? ""]);
    assert.match(shown.stdout, /> my name is Ada\n {3}1 Noted/);
    assert.match(shown.stdout, /> what is my name\?\n {3}2 Your name is Ada\./);
    const id = first?.id ?? "";
    assert.equal((await place.run(["sessions", "rename", id, "Ada\u001b[31m"])).code, 0);
    const markdown = await place.run(["sessions", "export", id]);
    assert.match(markdown.stdout, /^# Ada[\s\S]*## You\n\nmy name is Ada\n\n## Agent/);
    const lines = await place.run(["sessions", "export", id, "--format", "jsonl"]);
    assert.equal(lines.stdout.trim().split("\n").length, 4);
    assert.equal((await place.run(["sessions", "delete", id])).code, 0);
    assert.deepEqual(
      (await sessionsOf(place)).map((one) => one.id),
      [newest?.id],
    );
    checkRefused(await place.run(["sessions", "show", id]), 2, /There is no session/);
    const words = await place.run(["completions", "words", "sessions"]);
    assert.equal(words.stdout, `last\n${newest?.id}\n`);
  });
});

describe("a session and the API", () => {
  it("are the same: each continues what the other began", async () => {
    await using place = await createPlace();
    const say = (...args: string[]): Promise<Ended> =>
      place.run(["run", "-m", "embedded", ...args]);
    await say("my name is Ada");
    const [session] = await sessionsOf(place);
    const id = session?.id ?? "";
    await using server = await serve({ place, args: ["-m", "embedded"] });

    const got = await server.ask("GET", `/v1/conversations/${id}`);
    assert.deepEqual(
      [got.status, (got.body as JsonObject)["metadata"]],
      [200, { title: "my name is Ada" }],
    );
    const items = await server.ask("GET", `/v1/conversations/${id}/items?order=asc`);
    const data = (items.body as { readonly data: readonly JsonObject[] }).data;
    assert.deepEqual(
      data.map(({ role }) => role),
      ["user", "assistant"],
    );
    const one = await server.ask("GET", `/v1/conversations/${id}/items/${data[0]?.["id"]}`);
    assert.equal(one.status, 200);

    const response = await server.create({ conversation: id, input: "what is my name?" });
    assert.match(JSON.stringify(response.output), /Your name is Ada\./);
    await say("--session", id, "say done");
    const turns = await place.run(["sessions", "show", id, "--json"]);
    const shown = JSON.parse(turns.stdout) as { turns: { text: string }[]; runs: string[] };
    assert.deepEqual(
      shown.turns.map(({ text }) => text.split(".")[0]),
      ["Noted for this conversation: your name is Ada", "Your name is Ada", "done"],
    );
    assert.equal(shown.runs.length, 3);

    const chain = await server.create({ input: "my name is Eve" });
    const next = await server.create({ input: "say hi", previous_response_id: chain.id });
    const went = await say("--session", next.id, "what is my name?");
    assert.equal(went.stdout, "Your name is Eve.\n", went.stderr);
    const made = await server.ask("POST", "/v1/conversations", {
      items: [{ type: "message", role: "user", content: "my name is Bob" }],
    });
    const bob = await say("--session", String((made.body as JsonObject)["id"]), "what is my name?");
    assert.equal(bob.stdout, "Your name is Bob.\n", bob.stderr);
  });

  it("does not show the sessions of this folder to another tenant", async () => {
    await using place = await createPlace();
    await place.run(["run", "-m", "embedded", "say hi"]);
    const [session] = await sessionsOf(place);
    const made = await place.run(["keys", "create", "other", "--tenant", "other", "--json"]);
    const { token } = JSON.parse(made.stdout) as { readonly token: string };
    await using server = await serve({ place, args: ["-m", "embedded"], hasKeys: true });
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}/v1/conversations/${session?.id}`, { headers });
    assert.equal(answer.status, 404);
  });
});
