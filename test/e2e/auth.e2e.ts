/** Stored keys in daily use: set on a pipe, used by runs, refused if others can read them. */

import assert from "node:assert/strict";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reply, respond, script } from "../../src/testing/index.ts";
import { readPage } from "../doc-blocks.ts";
import { createPlace, type Place } from "./command.ts";
import { RESPONSES } from "./wires.ts";

/** In no known form, so that only a search for this text finds it. */
const KEY = "Grm7pQ2vXw9sKd4z";
const BAD = "Hrn8qR3wYx0tLe5a";

function fileOf(place: Place, variable = "OPENAI_API_KEY"): string {
  return join(place.home, ".local", "share", "offshoot", "auth", `${variable}.json`);
}

async function store(place: Place, key = KEY, vendor = "openai"): Promise<void> {
  const { code, stdout, stderr } = await place.run(["auth", "set", vendor], { input: `${key}\n` });
  assert.equal(code, 0, stderr);
  assert.ok(!`${stdout}${stderr}`.includes(key));
}

const hello = (): ReturnType<typeof respond> => respond(() => reply.text("Hello there."));

describe("a stored key", { concurrency: 2 }, () => {
  it("can be read by its user only, and a run sends it to its vendor", async () => {
    await using place = await createPlace();
    await using upstream = await RESPONSES.start({ key: KEY, engine: hello() });
    await store(place);
    assert.equal((await stat(fileOf(place))).mode & 0o777, 0o600);
    assert.equal((await stat(join(fileOf(place), ".."))).mode & 0o777, 0o700);
    const env = { OPENAI_BASE_URL: upstream.url };
    const ran = await place.run(["run", "Say hello"], { env });
    assert.deepEqual([ran.code, ran.stdout], [0, "Hello there.\n"], ran.stderr);
    assert.match(ran.stderr, /its key is stored/);
    const tested = await place.run(["auth", "test", "openai"], { env });
    assert.match(tested.stdout, /^openai takes the key \(stored\): openai\/\S+ answered, /);
    const listed = await place.run(["auth", "list"]);
    assert.match(listed.stdout, /^openai {2}OPENAI_API_KEY {2}file {2}since \d{4}-\d\d-\d\d$/m);
  });

  it("is not used if the environment has one, with a notice", async () => {
    await using place = await createPlace();
    await using upstream = await RESPONSES.start({ key: KEY, engine: hello() });
    await store(place, BAD);
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: upstream.url };
    assert.equal((await place.run(["run", "Say hello"], { env })).code, 0);
    assert.match(
      (await place.run(["auth", "list"], { env })).stdout,
      /not used: the environment's wins/,
    );
    const again = await place.run(["auth", "set", "openai"], { env, input: BAD });
    assert.match(again.stderr, /`OPENAI_API_KEY` is set in the environment, and wins/);
  });

  it("that its vendor refuses is one line in the vendor's words, without the key", async () => {
    await using place = await createPlace();
    await using upstream = await RESPONSES.start({ key: KEY });
    await store(place, BAD);
    const env = { OPENAI_BASE_URL: upstream.url, OFFSHOOT_LOG: "debug" };
    const { code, stdout, stderr } = await place.run(["auth", "test", "openai"], { env });
    assert.deepEqual([code, stdout], [1, ""], stderr);
    assert.match(
      stderr,
      /^offshoot: openai refuses the key \(stored\)\. .*Incorrect API key provided/m,
    );
    assert.ok(!stderr.includes(BAD));
    assert.equal(upstream.requests.length, 1);
  });

  it("is in no argument, and one in an argument is refused without being repeated", async () => {
    await using place = await createPlace();
    const { code, stdout, stderr } = await place.run(["auth", "set", "openai", KEY]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /A key is not given as a word of the command/);
    assert.ok(!stderr.includes(KEY));
    await assert.rejects(stat(fileOf(place)));
  });

  it("that others can read is not used: one line has the chmod to run", async () => {
    await using place = await createPlace();
    await store(place);
    await chmod(fileOf(place), 0o644);
    for (const args of [
      ["run", "Hello"],
      ["run", "-m", "openai", "Hello"],
    ]) {
      const { code, stderr } = await place.run(args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /mode 644\)\. Run `chmod 600 [^`]*OPENAI_API_KEY\.json`\.\n$/);
      const shown = stderr
        .split("\n")
        .at(-2)
        ?.replaceAll(/(?<=[ `])\/\S*(?=\/auth\/)/g, "…");
      assert.ok(readPage("docs/auth.md").includes(`\n${shown}\n`), shown);
    }
    const doctor = await place.run(["doctor"]);
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /^BAD {2}stored keys .*mode 644\)\n +Run `chmod 600 /m);
    await chmod(fileOf(place), 0o600);
    assert.match((await place.run(["doctor"])).stdout, /^ok {3}keys +OPENAI_API_KEY \(stored\)$/m);
  });

  it("of a vendor of the settings is stored by its own variable", async () => {
    await using place = await createPlace();
    await using upstream = await RESPONSES.start({ key: KEY, engine: hello() });
    const folder = join(place.home, ".config", "offshoot");
    await mkdir(folder, { recursive: true });
    const row = `{url: "${upstream.url}", provider: openai-responses, api_key_name: ACME, models: {one: {}}}`;
    await writeFile(join(folder, "config.yaml"), `vendors:\n  lab: ${row}\n`);
    await store(place, KEY, "lab");
    assert.match(await readFile(fileOf(place, "ACME"), "utf8"), /"vendor":"lab"/);
    const ran = await place.run(["run", "-m", "lab/one", "Hello"]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal((await place.run(["auth", "remove", "lab"])).code, 0);
    assert.equal((await place.run(["run", "-m", "lab/one", "Hello"])).code, 2);
    assert.equal((await place.run(["auth", "remove", "lab"])).code, 2);
  });

  it("is found by an agent's file that names its variable, and by `models`", async () => {
    await using place = await createPlace();
    await using upstream = await RESPONSES.start({ key: KEY, engine: hello() });
    const folder = join(place.home, ".config", "offshoot", "agents");
    await mkdir(folder, { recursive: true });
    const head = `name: lab\ndescription: Asks the lab.\nmodel: custom/one\nurl: ${upstream.url}`;
    const fields = `${head}\nprovider: openai-responses\napi_key_name: TEAM_KEY`;
    await writeFile(join(folder, "lab.md"), `---\n${fields}\n---\nAnswer.\n`);
    const args = ["run", "--agent", "lab", "Hello"];
    assert.match((await place.run(args)).stderr, /The variable `TEAM_KEY` is not set/);
    await store(place, KEY, "TEAM_KEY");
    assert.equal((await place.run(args)).code, 0);
    await store(place, KEY, "groq");
    const { stdout } = await place.run(["models"]);
    assert.match(stdout, /^groq\/\S+ .* stored key \(GROQ_API_KEY\)$/m);
    assert.doesNotMatch(stdout, /^openai\//m);
    const all = (await place.run(["models", "--all"])).stdout;
    assert.match(all, /^openai\/\S+ .* needs OPENAI_API_KEY, or offshoot auth set openai$/m);
    assert.match(all, /^bedrock\/\S+ .* needs credentials of its cloud/m);
  });

  it("goes to a child process that asks its vendor, and no command of it sees one", async () => {
    await using place = await createPlace();
    const engine = script(
      reply.calls([
        { name: "subagent", arguments: JSON.stringify({ label: "a", task_prompt: "Look" }) },
      ]),
      reply.calls([{ name: "shell", arguments: JSON.stringify({ command: "env; env | wc -l" }) }]),
      reply.text("Seen."),
      reply.text("Done."),
    );
    await using upstream = await RESPONSES.start({ key: KEY, engine });
    await store(place);
    await store(place, BAD, "groq");
    const env = {
      OPENAI_BASE_URL: upstream.url,
      OFFSHOOT_AGENT_SUBAGENT_EXECUTOR: "child_process",
      OFFSHOOT_COMMAND_ENV: "OPENAI_API_KEY,GROQ_API_KEY",
    };
    const args = ["run", "--approve", "auto", "--tools", "shell,subagent", "Delegate"];
    const ran = await place.run(args, { env });
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(upstream.requests.length, 4);
    const sent = JSON.stringify(upstream.requests.map(({ body }) => body));
    assert.match(sent, /PATH=/);
    // Not even by the names that the user passes to commands.
    assert.doesNotMatch(sent, /(?:OPENAI|GROQ)_API_KEY=/);
    assert.ok(!sent.includes(BAD));
  });

  it("is not given to the server of an untrusted project", async () => {
    await using upstream = await RESPONSES.start({ engine: hello() });
    const vendors = `vendors:\n  evil: {url: "${upstream.url}", provider: openai-responses, api_key_name: OPENAI_API_KEY}\n`;
    const project = `model: openai/gpt-5.1\nurl: ${upstream.url}\n${vendors}`;
    await using place = await createPlace({ ".offshoot/config.yaml": project });
    await store(place);
    await place.run(["run", "-m", "evil/x", "Hello"]);
    // Nothing listens there: it only matters that the project's address was not asked.
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", OFFSHOOT_MAX_RETRIES: "0" };
    assert.notEqual((await place.run(["run", "Hello"], { env })).code, 0);
    assert.equal(upstream.requests.length, 0);
  });
});
