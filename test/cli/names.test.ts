/**
 * Escapes in every name that a command prints: files, folders, agents, settings, servers, keys, runs. No
 * command cleans them itself; the output does (`createSafeOutput`).
 */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";
import { createSafeOutput } from "../../src/cli/terminal.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";
import { createFakeIo } from "./fake-io.ts";

const ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b1A\r\u202e";
/** All that we draw ourselves: styles, and how the live tree is drawn over, which a slow machine sees. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is our own
const OUR_DRAWING = /\r?\x1b(?:[78]|\[(?:\?7[lh]|\d{1,2}m|\d+A|[BCDJK]))/g;
const HARMFUL = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** A project whose folder, agents and settings have the escape in their names. */
function createHostile(t: TestContext): Io & { readonly shown: () => string } {
  const sandbox = createSandbox(t);
  const cwd = join(sandbox.home, `project${ESCAPE}`);
  mkdirSync(cwd);
  put(join(cwd, ".offshoot/config.yaml"), 'url: "http://a.example"\nmax_turns: 999\n');
  put(join(cwd, `.offshoot/agents/a${ESCAPE}\noffshoot: all is well.md`), "broken");
  put(join(cwd, ".offshoot/agents/b.md"), `---\nname: b\ndescription: "x"\n---\nHi ${ESCAPE}\n`);
  let shown = "";
  const fake = createFakeIo({ ...sandbox, cwd, env: { OFFSHOOT_DATA: join(cwd, "data") } });
  const screen = createSafeOutput({
    isTerminal: true,
    columns: 80,
    write: (text) => {
      shown += text;
    },
  });
  return { ...fake, stdout: screen, stderr: screen, shown: () => shown };
}

describe("a name with escapes in it", () => {
  const COMMANDS: readonly (readonly string[])[] = [
    ["config"],
    ["config", "path"],
    ["config", "get", "model"],
    ["config", "set", "--project", "model", `x/${ESCAPE}`],
    ["config", "trust"],
    ["config", "untrust"],
    ["config", "trust", `no${ESCAPE}`],
    ["agents", "list"],
    ["agents", "check"],
    ["agents", "show", "b"],
    ["agents", "trust", "b"],
    ["agents", "show", `no${ESCAPE}`],
    ["agents", "create", `no${ESCAPE}`],
    ["mcp", "list"],
    ["mcp", "add", `x${ESCAPE}`, "--url", "http://127.0.0.1:9"],
    ["keys", "create", "--name", `key${ESCAPE}`],
    ["keys", "list"],
    ["runs", "list"],
    ["runs", "show", `run${ESCAPE}`],
    ["run", "-m", "embedded", `say ${ESCAPE}`],
    ["run", "-m", `x${ESCAPE}`, "hello"],
    ["run", "--deny", `x${ESCAPE}`, "hello"],
    ["run", "--schema", `no${ESCAPE}`, "hello"],
    ["run", "-f", `no${ESCAPE}`, "hello"],
    ["models", `no${ESCAPE}`],
    [`no${ESCAPE}`],
  ];
  for (const command of COMMANDS) {
    it(`draws nothing: offshoot ${JSON.stringify(command.join(" "))}`, async (t) => {
      const io = createHostile(t);
      await main(command, io);
      assert.notEqual(io.shown(), "");
      assert.doesNotMatch(io.shown().replace(OUR_DRAWING, ""), HARMFUL);
      assert.doesNotMatch(io.shown(), /^offshoot: all is well/m, "a name begins no line");
    });
  }

  it("stays as it is where the output is not a terminal", () => {
    let written = "";
    const pipe = {
      isTerminal: false,
      columns: 80,
      write: (text: string) => {
        written += text;
      },
    };
    void createSafeOutput(pipe).write(ESCAPE);
    assert.equal(written, ESCAPE);
  });
});
