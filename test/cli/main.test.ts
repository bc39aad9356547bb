import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { main, report } from "../../src/cli/main.ts";
import { VERSION } from "../../src/version.ts";
import { createFakeIo } from "./fake-io.ts";

async function call(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  // The servers of this machine are left alone.
  const io = createFakeIo({ env: { OFFSHOOT_PROBE_LOCAL: "false" } });
  return { code: await main(args, io), ...io.written };
}

describe("help", () => {
  for (const args of [[], ["--help"], ["-h"], ["help"], ["help", "--help"]]) {
    it(`is shown for \`${["offshoot", ...args].join(" ")}\`, with every command`, async () => {
      const { code, stdout, stderr } = await call(...args);
      assert.equal(code, 0);
      assert.equal(stderr, "");
      for (const [name, { summary }] of Object.entries(COMMANDS)) {
        assert.match(stdout, new RegExp(`^  ${name} +${summary}$`, "m"));
      }
    });
  }

  for (const [name, { options, subcommands = {} }] of Object.entries(COMMANDS)) {
    it(`of ${name} names all its flags and actions`, async () => {
      const { code, stdout } = await call(name, "--help");
      assert.equal(code, 0);
      for (const long of Object.keys(options)) assert.match(stdout, new RegExp(`--${long}\\b`));
      for (const word of Object.keys(subcommands)) {
        assert.match(stdout, new RegExp(`^  ${word} `, "m"));
      }
      assert.equal((await call("help", name)).stdout, stdout);
      assert.equal((await call(name, "-h")).stdout, stdout);
    });
  }

  it("wins over all other mistakes", async () => {
    assert.equal((await call("run", "--modle", "--help")).code, 0);
  });

  it("is not a flag after --", async () => {
    const { code, stderr } = await call("doctor", "--", "--help");
    assert.equal(code, 2);
    assert.match(stderr, /takes no words, but got `--help`/);
  });

  it("lines fit a terminal of 100 columns", async () => {
    for (const name of Object.keys(COMMANDS)) {
      const { stdout } = await call("help", name);
      for (const line of stdout.split("\n")) assert.ok(line.length <= 100, line);
    }
  });
});

describe("version", () => {
  it("`--version` prints only the version", async () => {
    assert.deepEqual(await call("--version"), { code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });
});

describe("a wrong command line", () => {
  const refusals: readonly [string[], string][] = [
    [["rnu"], "Unknown command `rnu`. Did you mean `run`? See `offshoot --help`."],
    [["help", "cofnig"], "Unknown command `cofnig`. Did you mean `config`? See `offshoot --help`."],
    [["constructor"], "Unknown command `constructor`. See `offshoot --help`."],
    [
      ["List the files here"],
      'Unknown command `List the files here`. A prompt goes after `run`: `offshoot run "List the files here"`. See `offshoot --help`.',
    ],
    [["--wordy"], "Unknown flag `--wordy`. See `offshoot --help`."],
    [
      ["--model", "x", "run"],
      "Unknown flag `--model`. It goes after its command: `offshoot run --model`. See `offshoot --help`.",
    ],
    [
      ["run", "--modle", "x"],
      "Unknown flag `--modle`. Did you mean `--model`? See `offshoot run --help`.",
    ],
    [["run", "hello", "-z"], "Unknown flag `-z`. See `offshoot run --help`."],
    [["run", "-qz"], "Unknown flag `-z`. See `offshoot run --help`."],
    [["run", "--no-think"], "Unknown flag `--no-think`. See `offshoot run --help`."],
    [["run", "--model"], "`--model` needs a value: VENDOR/MODEL. See `offshoot run --help`."],
    [["run", "-m", "--think"], "`-m` needs a value: VENDOR/MODEL. See `offshoot run --help`."],
    [["run", "--think=yes"], "`--think` takes no value. See `offshoot run --help`."],
    [
      ["run", "-o", "jsn"],
      "`-o` takes one of text, json, jsonl, sse, not `jsn`. Did you mean `json`? See `offshoot run --help`.",
    ],
    [
      ["config", "shwo"],
      "Unknown command `offshoot config shwo`. Did you mean `show`? See `offshoot config --help`.",
    ],
    [
      ["env", "nosuch"],
      "Unknown command `offshoot env nosuch`. Available: claude, codex, openai. See `offshoot env --help`.",
    ],
    [
      ["env", "anthropic"],
      "Unknown command `offshoot env anthropic`. Did you mean `claude`? See `offshoot env --help`.",
    ],
    [
      ["doctor", "now"],
      "`offshoot doctor` takes no words, but got `now`. See `offshoot doctor --help`.",
    ],
    [
      ["runs", "list", "--force"],
      "`--force` is for `runs delete`, not for `runs list`. See `offshoot runs --help`.",
    ],
    [
      ["keys", "list", "--tools", "foo"],
      "`--tools` is for `keys create`, `keys update`, not for `keys list`. See `offshoot keys --help`.",
    ],
    [
      ["config", "trust", "--project"],
      "`--project` is for `config set`, not for `config trust`. See `offshoot config --help`.",
    ],
    [["runs", "delete", "a", "b"], "`runs delete` takes one id, but got `b` too."],
    [["runs", "list", "a"], "`runs list` takes no words, but got `a` too."],
    [
      ["runs", "replay", "a", "--from", "x", "--with", "y"],
      "`--with` changes the prompt alone: `prompt=TEXT`, not `y`.",
    ],
    [
      ["runs", "replay", "a", "--from", "x"],
      "`--from` needs `--with prompt=TEXT` beside it: what the run is asked instead.",
    ],
    [["models", "list", "a"], "`models list` takes no word `a`."],
    [["store", "backup"], "`store backup` needs a file name."],
  ];
  for (const [args, message] of refusals) {
    it(`is refused in one line with exit code 2: ${args.join(" ")}`, async () => {
      const expected = { code: 2, stdout: "", stderr: `offshoot: ${message}\n` };
      assert.deepEqual(await call(...args), expected);
    });
  }
});

describe("a failure", () => {
  it("is one line without secrets, with its exit code", async () => {
    const io = createFakeIo({ env: { MY_API_KEY: "hunter2hunter2" } });
    const failure = new Failure("provider_failed", "It said\n\u001b[31mhunter2hunter2\u001b[0m.");
    assert.equal(await report(failure, io), 1);
    assert.equal(io.written.stderr, "offshoot: It said [31m[redacted] [0m.\n");
  });

  it("that is a defect has the exit code of one", async () => {
    const io = createFakeIo();
    assert.equal(await report(new TypeError("x is undefined"), io), 70);
    assert.equal(io.written.stderr, "offshoot: x is undefined\n");
  });

  it("shows stack and cause, redacted, when debugging is on", async () => {
    const io = createFakeIo({ env: { OFFSHOOT_LOG: "debug", A_TOKEN: "hunter2hunter2" } });
    const cause = new Error("reset by hunter2hunter2");
    await report(new Failure("provider_unreachable", "No connection.", { cause }), io);
    const [first, ...rest] = io.written.stderr.split("\n");
    assert.equal(first, "offshoot: No connection.");
    assert.match(rest.join("\n"), /main\.test[\s\S]*\[cause\]: Error: reset by \[redacted\]/);
    assert.ok(!io.written.stderr.includes("hunter2"));
  });

  it("is not an error when the reader of the output has gone", async () => {
    const io = createFakeIo();
    const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    const stdout = { ...io.stdout, write: () => Promise.reject(gone) };
    assert.equal(await main(["--help"], { ...io, stdout }), 0);
    assert.equal(io.written.stderr, "");
  });

  it("of a program whose pipe broke is reported, and is not a success", async () => {
    const io = createFakeIo();
    const cause = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    const failure = new Failure("tool_failed", "It ended with exit code 3.", { cause });
    assert.equal(await report(failure, io), 1);
    assert.equal(io.written.stderr, "offshoot: It ended with exit code 3.\n");
  });
});
