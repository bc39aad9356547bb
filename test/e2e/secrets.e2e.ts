/** A key in the environment is sent to its server and nowhere else. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reply, script, type Upstream } from "../../src/testing/index.ts";
import { LINUX_LACK, programLack, unless } from "../needs.ts";
import { until, untilTrue } from "../patience.ts";
import { createPlace, type Ended, type Place } from "./command.ts";
import { CHAT, RESPONSES, runAt, WIRES } from "./wires.ts";

/** In no known form, so that only a search for this text finds it. */
const KEY = "Grm7pQ2vXw9sKd4z";

/** Every byte that the command wrote, to files and to its streams. */
async function bytesOf(place: Place, ended: Ended): Promise<string> {
  const entries = await readdir(place.home, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const kept = await Promise.all(
    files.map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  return [ended.stdout, ended.stderr, ...kept].join("\n");
}

async function checkUnseen(place: Place, ended: Ended): Promise<void> {
  const bytes = await bytesOf(place, ended);
  assert.match(bytes, /SQLite format 3/);
  assert.ok(!bytes.includes(KEY), bytes.slice(Math.max(0, bytes.indexOf(KEY) - 200)).slice(0, 250));
}

/** A server that answers with the key that it got, like some do with a wrong one. */
const ECHO = reply.status(401, { error: { message: `Incorrect API key provided: ${KEY}.` } });

const FORMS: readonly (readonly string[])[] = [[], ["-o", "json"], ["-o", "jsonl"], ["--sse"]];

/** Names of variables: one that names its content, and one that does not. */
const VARIABLES = ["ACME_API_KEY", "ACME"] as const;

function keyed(
  upstream: Upstream,
  wire: (typeof WIRES)[number],
  variable: string,
  ...rest: string[]
) {
  return runAt(upstream, wire, "--api-key-name", variable, ...rest);
}

describe("a key", { concurrency: 3 }, () => {
  for (const variable of VARIABLES) {
    for (const wire of WIRES) {
      it(`in ${variable} is sent over ${wire.name} and seen nowhere else`, async () => {
        await using place = await createPlace({ "a.ts": "" });
        await using upstream = await wire.start({ key: KEY });
        const env = { [variable]: KEY, OFFSHOOT_LOG: "debug" };
        const args = keyed(upstream, wire, variable, "List the TypeScript files here");
        const ended = await place.run(args, { env });
        assert.deepEqual([ended.code, upstream.requests.length], [0, 2], ended.stderr);
        await checkUnseen(place, ended);
      });
    }

    for (const form of FORMS) {
      const name = form.at(-1) ?? "text";
      it(`in ${variable} is not shown if the server echoes it, in the form ${name}`, async () => {
        await using place = await createPlace();
        await using upstream = await CHAT.start({ engine: script(ECHO) });
        const env = { [variable]: KEY, OFFSHOOT_LOG: "debug" };
        const ended = await place.run(keyed(upstream, CHAT, variable, ...form, "Hi"), { env });
        assert.equal(ended.code, 1, ended.stderr);
        assert.match(ended.stderr, /Incorrect API key provided: \[redacted\]/);
        await checkUnseen(place, ended);
      });
    }

    it(`in ${variable} is not shown if the server echoes it before a retry`, async () => {
      await using place = await createPlace();
      const busy = reply.status(503, { error: { message: `Too many requests of ${KEY}.` } });
      await using upstream = await RESPONSES.start({ engine: script(busy, reply.text("ok")) });
      const env = { [variable]: KEY, OFFSHOOT_LOG: "debug" };
      const ended = await place.run(keyed(upstream, RESPONSES, variable, "Hi"), { env });
      assert.deepEqual([ended.code, ended.stdout], [0, "ok\n"], ended.stderr);
      assert.match(ended.stderr, /requests of \[redacted\]\. Trying/);
      await checkUnseen(place, ended);
    });

    it(`in ${variable} is not shown if the server echoes it in its stream`, async () => {
      await using place = await createPlace();
      const failure = reply.failure(`The key ${KEY} was revoked.`, { text: "Half" });
      await using upstream = await RESPONSES.start({ engine: script(failure) });
      const env = { [variable]: KEY, OFFSHOOT_LOG: "debug" };
      const ended = await place.run(keyed(upstream, RESPONSES, variable, "Hi"), { env });
      assert.equal(ended.code, 1, ended.stderr);
      assert.match(ended.stderr, /The key \[redacted\] was revoked/);
      await checkUnseen(place, ended);
    });
  }

  it("is not shown by the other commands", async () => {
    await using place = await createPlace();
    const env = { OPENAI_API_KEY: KEY, OFFSHOOT_LOG: "debug" };
    for (const args of [["doctor"], ["config"], ["models"], ["config", "--json"]]) {
      const { stdout, stderr } = await place.run(args, { env });
      assert.ok(!`${stdout}${stderr}`.includes(KEY), args.join(" "));
    }
  });

  const able = unless(LINUX_LACK ?? programLack("mkfifo"));
  it(...able("is in no argument and in no tool's environment"), async () => {
    await using place = await createPlace({ "a.ts": "" });
    // A pipe without a writer blocks the tool's process until it is cancelled.
    execFileSync("mkfifo", [join(place.cwd, ".ignore")]);
    const find = reply.calls([{ name: "bash_find", arguments: {} }]);
    await using upstream = await CHAT.start({ engine: script(find) });
    const command = place.start(keyed(upstream, CHAT, "ACME_API_KEY", "Hi"), {
      env: { ACME_API_KEY: KEY },
    });
    await command.waitForStderr("bash_find(");
    const pid = command.child.pid ?? 0;
    const tool = await childOf(pid);
    const seen = [`${pid}/cmdline`, `${tool}/cmdline`, `${tool}/environ`];
    for (const file of seen) {
      assert.ok(!(await readFile(`/proc/${file}`, "latin1")).includes(KEY), file);
    }
    assert.match(await readFile(`/proc/${tool}/cmdline`, "latin1"), /--files/);

    command.child.kill("SIGINT");
    const ended = await command.ended;
    assert.equal(ended.code, 130, ended.stderr);
    const isGone = (): Promise<boolean> =>
      readFile(`/proc/${tool}/cmdline`, "latin1").then(
        (words) => words === "",
        () => true,
      );
    await untilTrue(isGone, "the end of the tool's process");
    await checkUnseen(place, ended);
  });
});

/** The only child process of another, once it exists. */
function childOf(pid: number): Promise<string> {
  const look = async (): Promise<string | undefined> => {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1");
    const [child] = children.trim().split(" ");
    const words = child ? readFile(`/proc/${child}/cmdline`, "latin1").catch(() => "") : "";
    return /rg/.test(await words) ? child : undefined;
  };
  return until(look, "the tool's process");
}
