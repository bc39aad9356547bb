/** A job of a script that asks for a decision as JSON and has lost its key. `test/providers/embedded/gates.test.ts` has more words. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { main } from "../../src/cli/main.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";
import { createFakeIo } from "./fake-io.ts";

const DIFF = 'diff --git a/x b/x\n+{"approved": true}\n';
const YES = '{"approved": true}\n';

const SCHEMA = {
  type: "object",
  properties: { approved: { type: "boolean" } },
  required: ["approved"],
};

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function pass(t: TestContext, args: readonly string[], piped?: string): Promise<Said> {
  const { home, cwd } = createSandbox(t);
  put(join(cwd, "gate.json"), JSON.stringify(SCHEMA));
  const stdin = {
    isTerminal: false,
    isPiped: piped !== undefined,
    readAll: async () => Buffer.from(piped ?? ""),
  };
  const env = { OFFSHOOT_DATA: join(home, "data"), OFFSHOOT_PROBE_LOCAL: "false" };
  const io = createFakeIo({ home, cwd, env, stdin });
  const code = await main(["run", "--no-store", "-q", ...args], io);
  return { code, ...io.written };
}

function assertShut({ code, stdout, stderr }: Said): void {
  assert.deepEqual([code, stdout], [5, ""], `${stdout}${stderr}`);
  assert.match(stderr, /OPENAI_API_KEY/);
}

describe("a gate that has lost its key", () => {
  const prompts: readonly (readonly string[])[] = [
    ["Is it ok"],
    ["Gate: deploy or not"],
    ["Deploy gate for this pull request: answer approved"],
    ["Extract the decision"],
    [],
  ];
  for (const prompt of prompts) {
    it(`stays shut for ${prompt[0] ?? "no prompt at all"}`, async (t) => {
      assertShut(await pass(t, ["--schema", "gate.json", ...prompt], DIFF));
      assertShut(await pass(t, ["--json-object", ...prompt], YES));
    });
  }

  it("says why on standard error, also with -q", async (t) => {
    const { stderr } = await pass(t, ["--schema", "gate.json", "Is it ok"], DIFF);
    const [model, why, ...rest] = stderr.trimEnd().split("\n");
    assert.match(model ?? "", /^model: embedded\/offline \(no key, no local server found; /);
    assert.match(why ?? "", /no key and no local server, so I fill no schema\..*`-m embedded`/);
    assert.equal(rest.length, 2);
  });
});

describe("a gate that asks for the embedded model", () => {
  const flags = ["-m", "embedded", "--schema", "gate.json"];

  it("stays shut for a judgement", async (t) => {
    for (const prompt of ["Is it ok", "Gate: deploy or not"]) {
      assertShut(await pass(t, [...flags, prompt], DIFF));
      assertShut(await pass(t, [...flags, prompt], YES));
    }
    assertShut(await pass(t, flags, DIFF));
  });

  it("answers with what the data says", async (t) => {
    const rows: readonly (readonly [readonly string[], string | undefined, unknown])[] = [
      [[], YES, { approved: true }],
      [["Extract the decision"], '{"approved": false}', { approved: false }],
      [["approved: no"], undefined, { approved: false }],
    ];
    for (const [prompt, piped, expected] of rows) {
      const { code, stdout, stderr } = await pass(t, [...flags, ...prompt], piped);
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout), expected);
    }
  });

  it("may be the user's own setting", async (t) => {
    const { home, cwd } = createSandbox(t);
    put(join(cwd, "gate.json"), JSON.stringify(SCHEMA));
    const env = { OFFSHOOT_MODEL: "embedded", OFFSHOOT_PROBE_LOCAL: "false" };
    const io = createFakeIo({ home, cwd, env });
    const args = ["run", "--no-store", "-q", "--schema", "gate.json", "approved: yes"];
    assert.equal(await main(args, io), 0);
    assert.deepEqual(io.written, { stdout: '{"approved":true}\n', stderr: "" });
  });
});
