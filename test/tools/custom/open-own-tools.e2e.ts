import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../../src/base/json.ts";
import { openOwnTools } from "../../../src/tools/custom/open-own-tools.ts";
import { checkOwnTools } from "../../../src/tools/custom/own-tools.ts";
import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { createWorkspaceFolder, type TextResult } from "../workspace-folder.ts";

const SECRET = "sk-planted-1234567890";
const ENV = { PATH: process.env["PATH"], ALLOWED: "let through", API_KEY: SECRET };

/** Opens one tool named `own` that runs a script of `sh`, and calls it. */
async function callOwn(script: string, input: object, row: JsonObject = {}): Promise<TextResult> {
  using folder = createWorkspaceFolder({ "scripts/own": `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder.root, "scripts/own"), 0o755);
  const own = await open({ own: { command: ["./scripts/own"], parameters: {}, ...row } });
  const parts = { root: folder.root, env: ENV, network: false, hidden: [] };
  const sandbox = await openSandbox("none", parts);
  try {
    return await folder.call(own, input, { sandbox });
  } finally {
    await sandbox.close();
  }
}

async function open(map: JsonObject, taken: readonly string[] = []): Promise<Tool> {
  const [tool] = await openOwnTools(checkOwnTools(map, "own_tools"), { env: ENV, taken });
  return tool ?? assert.fail("no tool");
}

describe("an executable as a tool", () => {
  it("gets the arguments as one JSON document and returns JSON", async () => {
    const { output, failed } = await callOwn('printf \'{"got": %s}\\n\' "$(cat)"', {
      city: "Oslo",
    });
    assert.equal(output, '{"got":{"city":"Oslo"}}');
    assert.equal(failed, false);
  });

  it("returns text that is not JSON", async () => {
    assert.equal((await callOwn("echo sunny, 21 degrees", {})).output, "sunny, 21 degrees");
    assert.equal((await callOwn("true", {})).output, "(no output)");
  });

  it("gets its other words unchanged, without a shell", async () => {
    const command = ["./scripts/own", "$HOME; echo no", "two"];
    const { output } = await callOwn('for word; do echo "$word"; done', {}, { command });
    assert.equal(output, "$HOME; echo no\ntwo");
  });

  it("runs in the workspace", async () => {
    assert.match((await callOwn("ls", {})).output, /^scripts$/);
  });

  it("fails with its exit code and the last lines of its error output", async () => {
    const script = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i >&2; done; exit 3";
    const { output, failed } = await callOwn(script, {});
    assert.ok(failed);
    assert.match(output, /^Error: `own` exited with code 3: line 21\n/);
    assert.match(output, /line 40$/);
  });

  it("fails with its output if it has no error output", async () => {
    assert.equal(
      (await callOwn("echo no such city; exit 1", {})).output,
      "Error: `own` exited with code 1: no such city",
    );
    assert.equal((await callOwn("exit 1", {})).output, "Error: `own` exited with code 1.");
  });

  it("is ended at its time limit", async () => {
    const { output } = await callOwn("sleep 100000", {}, { timeout: 1 });
    assert.equal(output, "Error: `own` took longer than 1 s.");
  });

  it("an output over the limit is truncated, and the result says so", async () => {
    const { output } = await callOwn("head -c 1100000 /dev/zero | tr '\\0' x", {});
    assert.match(output, /^x{1000000}\n\[Output truncated/);
  });

  it("sees the variables that it names and no other", async () => {
    const { output } = await callOwn("env", {}, { env: ["ALLOWED", "MISSING"] });
    assert.match(output, /^ALLOWED=let through$/m);
    assert.doesNotMatch(output, new RegExp(SECRET));
    assert.doesNotMatch((await callOwn("env", {})).output, /ALLOWED/);
  });

  it("reports that there is no such program", async () => {
    const { output } = await callOwn("", {}, { command: ["./scripts/none"] });
    assert.match(output, /^Error: There is no program `\.\/scripts\/none`/);
  });

  it("reports a file that cannot be executed", async () => {
    const { output } = await callOwn("", {}, { command: [fileURLToPath(import.meta.url)] });
    assert.match(
      output,
      /^Error: `.*` is not an executable file\. `chmod \+x` makes a script one\./,
    );
  });

  it("is never started with invalid arguments", async () => {
    const parameters = {
      $schema: "http://json-schema.org/draft-07/schema#",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
      additionalProperties: false,
    };
    const { output } = await callOwn("echo started", { days: "two" }, { parameters });
    assert.match(output, /^Error: The arguments of `own` do not fit: .*'city'.*integer/);
    assert.match((await callOwn("echo", ["a"], { parameters })).output, /must be object/);
    assert.match(
      (await callOwn("echo started", { city: "Rome" }, { parameters })).output,
      /started/,
    );
  });

  it("has no arguments if it names none", async () => {
    const own = await open({ own: { command: ["x"] } });
    assert.throws(() => own.parse({ a: 1 }), { code: "invalid_request" });
    assert.deepEqual(own.parse({}), {});
  });

  it("needs approval and obeys rules by its command, and may declare itself read-only", async () => {
    const own = await open({ own: { command: ["./x", "-v"], read_only: true } });
    assert.equal(own.effect, "external");
    assert.deepEqual(own.targets?.({}), { command: { argv: ["./x", "-v"] } });
    assert.equal(own.readOnly, true);
    assert.equal((await open({ own: { command: ["x"] } })).readOnly, false);
  });

  it("refuses a name that is taken and an invalid schema", async () => {
    await assert.rejects(open({ read: { command: ["x"] } }, ["read"]), {
      code: "invalid_request",
      message: "own_tools: `read` is the name of a tool that exists. Choose another.",
    });
    const parameters = { properties: { a: { type: "strin" } } };
    await assert.rejects(open({ own: { command: ["x"], parameters } }), {
      code: "invalid_request",
      message: /own_tools: `own`: `parameters` is not a valid JSON Schema: /,
    });
  });

  it("opens nothing for an empty map", async () => {
    assert.deepEqual(await openOwnTools({}, { env: {}, taken: [] }), []);
  });
});
