import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseArguments } from "../../src/cli/arguments.ts";
import type { CliCommand, CommandCall } from "../../src/cli/command.ts";

const command: CliCommand = {
  summary: "For tests",
  usage: "[WORDS]",
  options: {
    model: { type: "string", short: "m", value: "NAME", summary: "One value" },
    file: { type: "string", short: "f", multiple: true, summary: "Many values" },
    quiet: { type: "boolean", short: "q", summary: "A switch" },
    "no-store": { type: "boolean", summary: "A switch that says no" },
  },
  examples: [],
  load: async () => ({ run: async () => 0 }),
};

const cases: readonly [string[], CommandCall["options"], string[]][] = [
  [[], {}, []],
  [["hello", "world"], {}, ["hello", "world"]],
  [["-m", "a", "hello"], { model: "a" }, ["hello"]],
  [["hello", "--model", "a"], { model: "a" }, ["hello"]],
  [["--model=a=b"], { model: "a=b" }, []],
  [["-ma"], { model: "a" }, []],
  [["-qm", "a"], { quiet: true, model: "a" }, []],
  [["-m", "a", "-m", "b"], { model: "b" }, []],
  [["-f", "a", "x", "--file", "b"], { file: ["a", "b"] }, ["x"]],
  [["--no-store"], { "no-store": true }, []],
  [["--", "-m", "--quiet"], {}, ["-m", "--quiet"]],
  [["-q", "--", "a"], { quiet: true }, ["a"]],
  [["-m", "-1"], { model: "-1" }, []],
  [["-m", "- a list"], { model: "- a list" }, []],
  [["-m", "--be brief"], { model: "--be brief" }, []],
  [["--model=--quiet"], { model: "--quiet" }, []],
  [["-m", ""], { model: "" }, []],
  [["-"], {}, ["-"]],
  [[""], {}, [""]],
];

describe("words after a command", () => {
  for (const [args, options, words] of cases) {
    it(`are read from ${JSON.stringify(args)}`, () => {
      assert.deepEqual(parseArguments("test", command, args), { options, words });
    });
  }

  it("ask for help anywhere before --", () => {
    assert.equal(parseArguments("test", command, ["x", "-h"]), undefined);
    assert.equal(parseArguments("test", command, ["-qh"]), undefined);
    assert.deepEqual(parseArguments("test", command, ["--", "-h"])?.words, ["-h"]);
  });

  it("name the subcommand that another program calls so", () => {
    const subcommands = { show: "Show", cancel: "Stop", delete: "Remove", test: "Try" };
    const parts: CliCommand = { ...command, usage: "NAME", subcommands };
    for (const [word, meant] of [
      ["stop", "cancel"],
      ["rm", "delete"],
      ["try", "test"],
      ["shwo", "show"],
    ] as const) {
      assert.throws(
        () => parseArguments("test", parts, [word]),
        new RegExp(`Unknown command .offshoot test ${word}.\\. Did you mean .${meant}.\\?`),
      );
    }
  });

  it("are refused where a flag is another subcommand's", () => {
    const parts: CliCommand = {
      ...command,
      options: { ...command.options, force: { type: "boolean", only: ["delete"], summary: "Do" } },
      subcommands: { list: "List", delete: "Delete" },
    };
    assert.deepEqual(parseArguments("test", parts, ["delete", "--force"])?.options, {
      force: true,
    });
    for (const args of [["--force"], ["list", "--force"], ["--force", "list"]]) {
      assert.throws(() => parseArguments("test", parts, args), {
        code: "invalid_request",
        message: /^`--force` is for `test delete`, not for `test list`\./,
      });
    }
  });

  it("say how to give a prompt that begins with a dash", () => {
    const run = { ...command, usage: "[PROMPT]" };
    for (const typed of ["-1 + 2", "-5", "- one more"]) {
      assert.throws(() => parseArguments("run", run, [typed]), {
        code: "invalid_request",
        message: new RegExp(
          `^\`${typed.replace("+", "\\+")}\` begins with a dash .*offshoot run -- "`,
        ),
      });
      assert.deepEqual(parseArguments("run", run, ["--", typed])?.words, [typed]);
    }
    assert.throws(() => parseArguments("run", run, ["--modle"]), { message: /^Unknown flag/ });
  });

  it("are refused where a name is only inherited", () => {
    assert.throws(() => parseArguments("test", command, ["--constructor"]), {
      message: /Unknown flag `--constructor`/,
    });
  });
});
