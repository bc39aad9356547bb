import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { keyIn } from "../../src/base/stored-keys.ts";
import type { Terminal } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";
import { isSetUp } from "../../src/cli/setup/look-around.ts";
import { runSetup, type SetupEnd } from "../../src/cli/setup/setup.ts";
import type { TestedCall } from "../../src/cli/test-call.ts";
import type { RunEnd } from "../../src/protocol/run-events.ts";
import { patience } from "../patience.ts";
import { createFakeIo, type FakeIo } from "./fake-io.ts";

const CONFIG = ".config/offshoot/config.yaml";
const KEYS = ".local/share/offshoot/auth";

interface Bench {
  readonly io: FakeIo;
  read(file: string): Promise<string>;
  keys(): Promise<string[]>;
}

async function open(t: TestContext, env: Record<string, string> = {}): Promise<Bench> {
  const home = await mkdtemp(join(tmpdir(), "offshoot-setup-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const cwd = join(home, "work");
  await mkdir(cwd);
  const own = { OFFSHOOT_PROBE_LOCAL: "false", OFFSHOOT_KEY_STORE: "file", ...env };
  return {
    io: createFakeIo({ home, cwd, env: own }),
    read: (file) => readFile(join(home, file), "utf8"),
    keys: () => readdir(join(home, KEYS)).catch(() => []),
  };
}

/** A terminal on which these lines are typed; hidden ones are `*` and the key. The end of them is Ctrl-D. */
function typing(...lines: string[]): Terminal & { readonly shown: string[]; text(): string } {
  const shown: string[] = [];
  const next = (isHidden: boolean) => async (prompt: string) => {
    shown.push(prompt);
    const line = lines.shift();
    if (line === undefined) return undefined;
    assert.equal(line.startsWith("*"), isHidden, `\`${line}\` at: ${prompt}`);
    return isHidden ? line.slice(1) : line;
  };
  return {
    shown,
    text: () => shown.join(""),
    columns: 80,
    ask: next(false),
    askHidden: next(true),
    show: (text) => void shown.push(text),
  };
}

const REFUSED = "openai answered 401: Incorrect API key provided: sk-bad***. Check the key.";

/** Takes the key `sk-good`, as a vendor would. */
async function tryModel({ io, ref }: TestedCall): Promise<RunEnd> {
  const vendor = ref.split("/")[0] ?? "";
  const key = keyIn(io.env, `${vendor.toUpperCase()}_API_KEY`);
  if (key === "sk-good") return { cost_usd: 0.00012 } as RunEnd;
  if (key === "sk-busy") throw new Failure("rate_limited", "openai answered 429: slow down.");
  throw new Failure("provider_unauthorized", REFUSED);
}

async function setUp(bench: Bench, terminal: Terminal): Promise<SetupEnd> {
  return await runSetup({ io: bench.io, terminal, signal: patience(), tryModel });
}

describe("the setup", () => {
  it("goes from a refused key to an accepted one, a test call and a default model", async (t) => {
    const bench = await open(t);
    assert.equal(await isSetUp(bench.io), false);
    const terminal = typing("1", "*sk-bad", "*sk-good", "2");
    assert.deepEqual(await setUp(bench, terminal), { how: "done", words: undefined });
    assert.match(terminal.text(), /The key is refused\. openai answered 401/);
    assert.match(terminal.text(), /It is removed again\.[\s\S]*It answers\. It cost \$0\.000120\./);
    assert.match(await bench.read(CONFIG), /^model: openai\/\S+$/m);
    assert.deepEqual(await bench.keys(), ["OPENAI_API_KEY.json"]);
    assert.match(await bench.read(`${KEYS}/OPENAI_API_KEY.json`), /"key":"sk-good"/);
    assert.ok(!terminal.text().includes("sk-good"));
    assert.equal(await isSetUp(bench.io), true);
  });

  it("says how a server of one's own becomes a vendor, and sets no model that has no address", async (t) => {
    const bench = await open(t);
    const terminal = typing("http://127.0.0.1:9000/v1", "custom", "");
    assert.equal((await setUp(bench, terminal)).how, "skipped");
    assert.match(
      terminal.text(),
      /Add it to \S+config\.yaml under a name:\n {2}vendors:\n {4}mine:\n {6}url: http:\/\/127\.0\.0\.1:9000\/v1\n/,
    );
    assert.match(terminal.text(), /url: http:\/\/127\.0\.0\.1:8000\/v1\n/);
    await assert.rejects(bench.read(CONFIG));
  });

  it("keeps a key whose test call failed for another reason", async (t) => {
    const bench = await open(t);
    const terminal = typing("openai", "*sk-busy", "");
    assert.equal((await setUp(bench, terminal)).how, "done");
    assert.match(
      terminal.text(),
      /The test call failed; what you set is kept\. openai answered 429/,
    );
    assert.deepEqual(await bench.keys(), ["OPENAI_API_KEY.json"]);
  });

  it("asks again for a model's name that has blanks", async (t) => {
    const bench = await open(t);
    const terminal = typing("1", "*sk-good", "offshoot chat; exit", "2");
    assert.equal((await setUp(bench, terminal)).how, "done");
    assert.match(terminal.text(), /A model's name has no blanks\. Type a number or the name\./);
    assert.match(await bench.read(CONFIG), /^model: openai\/\S+$/m);
  });

  it("can be left at any step, and what was set so far stays", async (t) => {
    const steps: readonly [string[], keys: number][] = [
      [[], 0],
      [["1"], 0],
      [["1", "*sk-bad"], 0],
      [["1", "*sk-good"], 1],
    ];
    for (const [lines, keys] of steps) {
      const bench = await open(t);
      const terminal = typing(...lines);
      assert.equal((await setUp(bench, terminal)).how, "left", lines.join(" "));
      assert.equal((await bench.keys()).length, keys, lines.join(" "));
      await assert.rejects(bench.read(CONFIG));
      assert.match(terminal.text(), /Left\. What you have set so far stays/);
    }
  });

  it("is skipped with Enter, and keeps a prompt that was typed in place of a choice", async (t) => {
    const bench = await open(t);
    const end = await setUp(bench, typing("what does this project do?", ""));
    assert.deepEqual(end, { how: "skipped", words: "what does this project do?" });
  });

  it("says what is wrong with a choice, a key and a model, and asks again", async (t) => {
    const bench = await open(t);
    const terminal = typing(
      "opnai",
      "99",
      "bedrock",
      "1",
      "*two words",
      "*",
      "1",
      "*sk-good",
      "  ",
    );
    assert.equal((await setUp(bench, terminal)).how, "done");
    assert.match(terminal.text(), /Unknown vendor `opnai`\. Did you mean `openai`\?/);
    assert.match(terminal.text(), /`bedrock` has no key to store: it takes the credentials/);
    assert.match(terminal.text(), /This is not a key: it has blanks/);
    assert.ok(!terminal.text().includes("two words"));
  });

  it("does not repeat a key that was typed in place of a vendor", async (t) => {
    const bench = await open(t);
    const key = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    const terminal = typing(key, "");
    await setUp(bench, terminal);
    assert.ok(!terminal.text().includes(key.slice(8)));
  });

  it("uses a key of the environment, and says that it wins if it is refused", async (t) => {
    const good = await open(t, { OPENAI_API_KEY: "sk-good" });
    assert.equal((await setUp(good, typing("1", ""))).how, "done");
    assert.deepEqual(await good.keys(), []);
    const bad = await open(t, { OPENAI_API_KEY: "sk-bad" });
    const terminal = typing("1");
    assert.equal((await setUp(bad, terminal)).how, "left");
    assert.match(terminal.text(), /`OPENAI_API_KEY` of the environment wins over a stored key/);
  });

  it("writes into existing settings, and leaves the rest of them", async (t) => {
    const bench = await open(t);
    await mkdir(join(bench.io.home, ".config/offshoot"), { recursive: true });
    await writeFile(join(bench.io.home, CONFIG), "# mine\nmax_turns: 7\n");
    await setUp(bench, typing("1", "*sk-good", "gpt-of-mine"));
    assert.equal(await bench.read(CONFIG), "# mine\nmax_turns: 7\nmodel: openai/gpt-of-mine\n");
  });

  it("is plain lines on a pipe", async (t) => {
    const { io } = await open(t);
    assert.equal(await main(["setup"], io), 0);
    assert.match(
      io.written.stdout,
      /^No model is set up yet\.\nkeys in the environment: {2}none$/m,
    );
    assert.match(io.written.stdout, /^ {2}offshoot auth set openai /m);
    const alone = await open(t);
    assert.equal(await main([], alone.io), 0);
    assert.match(
      alone.io.written.stdout,
      /^ {2}run +Run one prompt[\s\S]*No model is set up yet\.$/m,
    );
    const keyed = await open(t, { GROQ_API_KEY: "gsk-1" });
    assert.equal(await main([], keyed.io), 0);
    assert.doesNotMatch(keyed.io.written.stdout, /No model/);
  });
});
