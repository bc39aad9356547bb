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
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { Asker } from "../../src/protocol/tool-question.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import {
  asked,
  call,
  childEnd,
  childStart,
  end,
  type Logs,
  record,
  start,
  tool,
} from "../delegation/ledger-record.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";
import { createFakeIo } from "./fake-io.ts";

const ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b1A\r\u202e";
/** All that we draw ourselves: styles, and how the live tree is drawn over, which a slow machine sees. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is our own
const OUR_DRAWING = /\r?\x1b(?:[78]|\[(?:\?7[lh]|\d{1,2}m|\d+A|[BCDJK]))/g;
const HARMFUL = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** Names from a model or a person: they must not draw, nor begin a new line. */
const NAME = `x${ESCAPE}\noffshoot: all is well`;
const CHILD = `run_open/a${ESCAPE}-1.0`;

/** A run that waits for a person and so does its subagent, and one that has ended. */
const RUNS: Logs = {
  run_open: [
    start("run_open", 1000),
    ...call(1, 1000, 1200, 0.5),
    childStart(CHILD, NAME, 1300),
    ...tool(NAME, 1300, 1400),
    ...toQuestion(null),
  ],
  [CHILD]: [
    start(CHILD, 1300, NAME),
    ...toQuestion({ label: NAME, agent: NAME, path: `/root/${NAME}`, depth: 1, task: NAME }),
  ],
  run_done: [
    start("run_done", 1000),
    { type: "turn_start", turn: 1, at_ms: 1000 },
    { type: "text_delta", index: 0, part: 0, delta: `Hello ${ESCAPE}` },
    ...tool(NAME, 1300, 1400, true),
    childStart("run_done/b-1.0", NAME, 1400),
    childEnd("run_done/b-1.0", NAME, { ending: "failed", message: NAME }),
    end(3000, { output_text: `Hello ${ESCAPE}` }),
  ],
};

function toQuestion(asker: Asker | null): RunEvent[] {
  const question = asked(NAME, 1500, JSON.stringify({ path: NAME }));
  const { call_id, name, arguments: text } = question;
  return [
    { type: "tool_start", call_id, name, arguments: text, at_ms: 1500 },
    { ...question, asker, reason: NAME, always: [NAME], effect: NAME },
  ];
}

/** A project whose folder, agents, settings and runs have the escape in their names. */
async function createHostile(t: TestContext): Promise<Io & { readonly shown: () => string }> {
  const sandbox = createSandbox(t);
  const cwd = join(sandbox.home, `project${ESCAPE}`);
  mkdirSync(cwd);
  put(join(cwd, ".offshoot/config.yaml"), 'url: "http://a.example"\nmax_turns: 999\n');
  put(join(cwd, `.offshoot/agents/a${ESCAPE}\noffshoot: all is well.md`), "broken");
  put(join(cwd, ".offshoot/agents/b.md"), `---\nname: b\ndescription: "x"\n---\nHi ${ESCAPE}\n`);
  const store = await openSqliteStore(join(cwd, "data", "runs.db"));
  await (await record(RUNS, store)).close();
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
    ["runs", "list", "--all"],
    ["runs", "show", `run${ESCAPE}`],
    ["runs", "show", "run_open"],
    ["runs", "show", CHILD],
    ["runs", "show", "run_done"],
    ["runs", "tree", "run_open"],
    ["runs", "tree", "run_done"],
    ["runs", "tree", `run${ESCAPE}`],
    ["runs", "events", "run_done"],
    ["runs", "cost", "run_open"],
    ["runs", "why-denied", "run_open"],
    ["runs", "waiting"],
    ["runs", "waiting", "--json"],
    ["runs", "approve", "run_open"],
    ["runs", "approve", "run_open", "tool:1.0"],
    ["runs", "approve", "run_open", `no${ESCAPE}`],
    ["runs", "approve", CHILD, "tool:1.0"],
    ["runs", "approve", "run_done", "tool:1.0"],
    ["runs", "approve", `run${ESCAPE}`, "tool:1.0"],
    ["runs", "deny", "run_open"],
    ["runs", "deny", CHILD, "tool:1.0"],
    ["runs", "deny", "run_open", `no${ESCAPE}`],
    ["runs", "follow", "run_done"],
    ["runs", "follow", `run${ESCAPE}`],
    ["runs", "steer", "run_open", NAME],
    ["runs", "steer", CHILD, NAME],
    ["runs", "steer", "run_done", NAME],
    ["runs", "steer", `run${ESCAPE}`, NAME],
    ["runs", "cancel", CHILD],
    ["runs", "delete", CHILD],
    ["store", "check"],
    ["store", "backup", `copy${ESCAPE}.db`],
    ["store", "backup", `no${ESCAPE}/copy.db`],
    ["store", "vacuum"],
    ["store", `no${ESCAPE}`],
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
      const io = await createHostile(t);
      await main(command, io);
      assert.notEqual(io.shown(), "");
      assert.doesNotMatch(io.shown().replace(OUR_DRAWING, ""), HARMFUL);
      assert.doesNotMatch(io.shown(), /^offshoot: all is well/m, "a name begins no line");
    });
  }

  it("is printed unchanged if the output is not a terminal", () => {
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
