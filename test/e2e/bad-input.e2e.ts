/**
 * Every error in the user's input is reported in one line before anything is sent: exit code 2, nothing on
 * standard output, no request at the named server.
 */

import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { reply, script, type Upstream } from "../../src/testing/index.ts";
import { type CommandOptions, createPlace, type Ended, type Place } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

const FILES = {
  "notes.txt": "notes\n",
  "zip.bin": Buffer.from([0x50, 0x4b, 0x03, 0x04, 0x00, 0xff, 0xfe, 0x80]),
  "nul.txt": "a\0b",
  "folder/inner.txt": "",
  "city.json": '{"type":"object"}',
  "broken.json": '{"type":',
  "list.json": "[1,2]",
  "no-schema.json": '{"type":"objekt"}',
  "bad-ref.json": '{"$ref":"#/no/such/place"}',
};

let upstream: Upstream;
before(async () => {
  upstream = await CHAT.start({ engine: script(reply.text("must not be asked")) });
});
after(() => upstream.close());

interface Case {
  readonly name: string;
  /** After `run -m … --url …`. */
  readonly args: readonly string[];
  /** The text of the line, besides its beginning. */
  readonly says: RegExp;
  readonly options?: CommandOptions;
}

const NUMBER_FLAGS: Readonly<Record<string, readonly string[]>> = {
  "--temperature": ["warm", "-1", "2.1", "NaN", ""],
  "--max-tokens": ["many", "0", "-5", "1.5", "1e400"],
  "--max-turns": ["x", "0", "1001", "2.5"],
  "--timeout": ["soon", "0", "-1", "Infinity"],
};

const CASES: readonly Case[] = [
  { name: "a missing file", args: ["-f", "no.txt", "Hi"], says: /no file `no\.txt`/ },
  { name: "a missing @file", args: ["Hi", "@no.txt"], says: /no file `no\.txt`/ },
  { name: "a file below a file", args: ["-f", "notes.txt/x", "Hi"], says: /no file/ },
  { name: "a directory as file", args: ["-f", "folder", "Hi"], says: /`folder` is a directory/ },
  { name: "a binary file", args: ["-f", "zip.bin", "Hi"], says: /neither text .* nor an image/ },
  { name: "a file with NUL", args: ["-f", "nul.txt", "Hi"], says: /neither text/ },
  { name: "an empty prompt", args: [""], says: /The prompt is empty/ },
  { name: "a prompt of spaces", args: ["  "], says: /The prompt is empty/ },
  { name: "no prompt", args: [], says: /The prompt is empty/ },
  { name: "an empty pipe", args: [], says: /The prompt is empty/, options: { input: "" } },
  { name: "a file and no prompt", args: ["-f", "notes.txt"], says: /files but no prompt/ },
  { name: "binary input", args: ["Hi"], says: /Standard input is/, options: { input: "a\0b" } },
  { name: "an unknown flag", args: ["--modle", "x", "Hi"], says: /`--modle`.*`--model`/ },
  { name: "an unknown short flag", args: ["-z", "Hi"], says: /Unknown flag `-z`/ },
  { name: "a flag without its value", args: ["Hi", "--schema"], says: /`--schema` needs a value/ },
  { name: "a wrong choice", args: ["-o", "xml", "Hi"], says: /one of text, json, jsonl, sse/ },
  { name: "a value for a switch", args: ["--sse=yes", "Hi"], says: /takes no value/ },
  { name: "a missing schema", args: ["--schema", "no.json", "Hi"], says: /no file `no\.json`/ },
  {
    name: "a schema that is not JSON",
    args: ["--schema", "broken.json", "Hi"],
    says: /broken\.json/,
  },
  {
    name: "a schema that is a list",
    args: ["--schema", "list.json", "Hi"],
    says: /(no|not a) JSON schema/i,
  },
  {
    name: "an invalid schema",
    args: ["--schema", "no-schema.json", "Hi"],
    says: /not a valid JSON Schema: `type` must be string, number, .* or a list of these\./,
  },
  {
    name: "a schema with a dead end",
    args: ["--schema", "bad-ref.json", "Hi"],
    says: /not a valid JSON Schema/,
  },
  { name: "a directory as schema", args: ["--schema", "folder", "Hi"], says: /is a directory/ },
  {
    name: "two forms at once",
    args: ["--schema", "city.json", "--json-object", "Hi"],
    says: /either --schema or --json-object/,
  },
  { name: "missing instructions", args: ["--system", "@no.md", "Hi"], says: /no file `no\.md`/ },
  { name: "an unknown provider", args: ["--provider", "openai-cat", "Hi"], says: /`openai-cat`/ },
  {
    name: "an unknown tool",
    args: ["--tools", "read,bash_fnid", "Hi"],
    says: /No tool fits `bash_fnid`/,
  },
  {
    name: "an invalid URL",
    args: ["--url", "localhost:80", "Hi"],
    says: /not an http or https URL/,
  },
  {
    name: "a key variable that is not set",
    args: ["--api-key-name", "MY_KEY", "Hi"],
    says: /`MY_KEY` is not set/,
  },
  {
    name: "a key in place of its variable",
    args: ["--api-key-name", "sk-proj-0123456789abcdefghij", "Hi"],
    says: /the name of an environment variable, not a key\.$/m,
  },
  {
    name: "a variable with a wrong value",
    args: ["Hi"],
    says: /`OFFSHOOT_MAX_TURNS` must be a whole number/,
    options: { env: { OFFSHOOT_MAX_TURNS: "lots" } },
  },
  {
    name: "a store path that is a directory",
    args: ["Hi"],
    says: /The store `.*folder` cannot be used/,
    options: { env: { OFFSHOOT_STORE_PATH: "folder" } },
  },
  ...Object.entries(NUMBER_FLAGS).flatMap(([flag, values]) =>
    values.map((value) => ({
      name: `${flag} "${value}"`,
      args: [`${flag}=${value}`, "Hi"],
      says: new RegExp(`\`${flag}\` must be a .*number`),
    })),
  ),
];

/** Not after `run` with a server: the whole command line. */
const OTHER_CASES: readonly Case[] = [
  {
    name: "an unknown vendor",
    args: ["run", "-m", "opnai/gpt-5.1", "Hi"],
    says: /`opnai`.*`openai/,
  },
  {
    name: "an unknown model",
    args: ["run", "-m", "gtp-9", "Hi"],
    says: /Unknown model or vendor `gtp-9`/,
  },
  { name: "a vendor without a default", args: ["run", "-m", "vllm", "Hi"], says: /vllm\/MODEL/ },
  {
    name: "a server without a URL",
    args: ["run", "-m", "custom/x", "Hi"],
    says: /needs a base URL/,
  },
  {
    name: "an unknown embedded model",
    args: ["run", "-m", "embedded/gpt", "Hi"],
    says: /no embedded model `gpt`/,
  },
  {
    name: "a missing key",
    args: ["run", "-m", "openai/gpt-5.1", "Hi"],
    says: /`openai` needs a key in `OPENAI_API_KEY`.*Get one at https:/,
  },
  {
    name: "a provider that the vendor does not speak",
    args: ["run", "-m", "mistral/x", "--provider", "openai-responses", "Hi"],
    says: /mistral/,
    options: { env: { MISTRAL_API_KEY: "test-key-0123456789" } },
  },
  { name: "an unknown command", args: ["rnu", "Hi"], says: /`rnu`.*`run`/ },
  { name: "a prompt in place of a command", args: ["What is this?"], says: /goes after `run`/ },
  { name: "a flag in place of a command", args: ["-m", "x", "Hi"], says: /Unknown flag `-m`/ },
  { name: "an unknown subcommand", args: ["runs", "lst"], says: /`offshoot runs lst`.*`list`/ },
  { name: "an unknown run", args: ["runs", "show", "run_no"], says: /no run `run_no`/ },
  { name: "a run without its id", args: ["runs", "show"], says: /needs the id of a run/ },
  {
    name: "a wrong limit",
    args: ["runs", "list", "-n", "0"],
    says: /--limit takes a whole number/,
  },
  { name: "an unknown setting", args: ["config", "get", "modle"], says: /`modle`/ },
  {
    name: "an empty model",
    args: ["run", "-m", "", "Hi"],
    says: /`--model` is empty\. Use VENDOR/,
  },
  {
    name: "a run for the list of undos",
    args: ["undo", "--list", "run_no"],
    says: /`undo --list` takes no run or turn, but got `run_no`/,
  },
  {
    name: "an MCP server where there is none",
    args: ["mcp", "test", "files"],
    says: /Unknown MCP server `files`\. There are none yet: `offshoot mcp add --help`/,
  },
  {
    name: "an MCP server without its address",
    args: ["mcp", "add"],
    says: /Write `offshoot mcp add NAME URL`, or `offshoot mcp add NAME -- COMMAND/,
  },
  {
    name: "an empty payload",
    args: ["subagent"],
    says: /Standard input is empty\. Write the payload to it: one JSON document/,
    options: { input: "" },
  },
  { name: "words where none belong", args: ["doctor", "now"], says: /takes no words/ },
  { name: "an unknown shell", args: ["completions", "csh"], says: /csh/ },
];

function check(ended: Ended, says: RegExp): void {
  assert.equal(ended.code, 2, ended.stderr);
  assert.equal(ended.stdout, "");
  const lines = ended.stderr.split("\n").filter((line) => !line.startsWith("model: "));
  assert.deepEqual([lines.length, lines[1]], [2, ""], ended.stderr);
  assert.match(ended.stderr, /^offshoot: \S.*[.?)"`]$/m);
  assert.match(ended.stderr, says);
  assert.doesNotMatch(ended.stderr, /\bat .*\.js:\d+|undefined|\[object/);
}

async function checkAt(place: Place, { args, says, options }: Case): Promise<void> {
  const before = upstream.requests.length;
  check(await place.run(runAt(upstream, CHAT, ...args), options), says);
  assert.equal(upstream.requests.length, before);
}

describe("bad input to run", { concurrency: 3 }, () => {
  for (const bad of CASES) {
    it(bad.name, async () => {
      await using place = await createPlace(FILES);
      await checkAt(place, bad);
    });
  }

  for (const [what, yaml] of Object.entries({
    "broken YAML": "model: [embedded\n",
    "a setting twice": "model: embedded\nmodel: embedded\n",
    "an unknown setting": "modle: embedded\n",
    "a wrong value": "max_turns: many\n",
    "a key": "api_key_name: sk-proj-0123456789abcdefghij\n",
    "a list": "- embedded\n",
  })) {
    it(`${what} in the configuration`, async () => {
      await using place = await createPlace({ "config.yaml": yaml });
      const env = { OFFSHOOT_CONFIG: join(place.cwd, "config.yaml") };
      await checkAt(place, {
        name: "",
        args: ["Hi"],
        says: /config\.yaml:\d+:\d+:/,
        options: { env },
      });
    });
  }

  it("a home that is a file", async () => {
    await using place = await createPlace();
    await rm(place.home, { recursive: true });
    await writeFile(place.home, "");
    await checkAt(place, { name: "", args: ["Hi"], says: /The store `.*` cannot be made/ });
  });

  it("a database that is not one", async () => {
    await using place = await createPlace();
    await mkdir(join(place.home, ".local/share/offshoot"), { recursive: true });
    await writeFile(
      join(place.home, ".local/share/offshoot/runs.db"),
      "This is a letter. ".repeat(99),
    );
    await checkAt(place, { name: "", args: ["Hi"], says: /The store `.*` cannot be used/ });
  });

  it("200 MB on standard input, which is not read to its end", async () => {
    await using place = await createPlace();
    let sent = 0;
    const piece = Buffer.alloc(1024 * 1024, "x");
    const input = Readable.from(
      (function* () {
        for (; sent < 200; sent++) yield piece;
      })(),
    );
    await checkAt(place, { name: "", args: ["Hi"], says: /larger than 16 MB/, options: { input } });
    assert.ok(sent < 100, `${sent} MB were sent`);
  });

  it("a host that does not resolve", async () => {
    await using place = await createPlace();
    // Longer than a label may be, so that no resolver is asked.
    const host = `${"a".repeat(64)}.example`;
    const args = ["run", "-m", "x", "--url", `http://${host}/v1`, "Hi"];
    check(await place.run(args), /The host `a+\.example` does not resolve/);
  });
});

describe("bad input to other commands", { concurrency: 3 }, () => {
  for (const { name, args, says, options } of OTHER_CASES) {
    it(name, async () => {
      await using place = await createPlace(FILES);
      check(await place.run(args, options), says);
    });
  }
});
