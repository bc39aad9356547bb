import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { checkOwnTools, toOwnTools } from "../../../src/tools/custom/own-tools.ts";

describe("the setting `own_tools`", () => {
  it("fills in what is missing", () => {
    const map = { lint: { command: ["./lint", "--json"] } };
    assert.equal(checkOwnTools(map, "own_tools"), map);
    assert.deepEqual(toOwnTools(map), [
      {
        name: "lint",
        command: ["./lint", "--json"],
        description: "Runs `./lint --json`.",
        parameters: { type: "object", properties: {}, additionalProperties: false },
        readOnly: false,
        timeoutMs: 60_000,
        env: [],
      },
    ]);
  });

  it("keeps what is set", () => {
    const parameters = { properties: { city: { type: "string" } }, required: ["city"] };
    const row = { command: ["x"], description: "Asks.", parameters, read_only: true };
    const [tool] = toOwnTools(
      checkOwnTools({ ask_it: { ...row, timeout: 1.5, env: ["API_TOKEN"] } }, "x"),
    );
    assert.equal(tool?.description, "Asks.");
    assert.deepEqual(tool.parameters, { type: "object", ...parameters });
    assert.equal(tool.readOnly, true);
    assert.equal(tool.timeoutMs, 1500);
    assert.deepEqual(tool.env, ["API_TOKEN"]);
  });

  const good = { command: ["x"] };
  const refusals: readonly (readonly [JsonObject, RegExp])[] = [
    [{ "1st": good }, /^own_tools: `1st` is not a valid tool name: use a letter, then/],
    [{ "a b": good }, /is not a valid tool name/],
    [{ "": good }, /is not a valid tool name/],
    [{ [`a${"b".repeat(64)}`]: good }, /is not a valid tool name/],
    [{ mcp__a__b: good }, /must not begin with `mcp__`/],
    [{ x: "./x" }, /`x` must be a map with `command`, and some of: description, parameters/],
    [{ x: { description: "y" } }, /must be a map with `command`/],
    [{ x: { comand: ["./x"] } }, /`x` does not know `comand`. Did you mean `command`\?/],
    [{ x: { command: "ls -l" } }, /`command` must be a list of words, the program first/],
    [{ x: { command: [] } }, /`command` must be a list of words/],
    [{ x: { command: [""] } }, /`command` must be a list of words/],
    [{ x: { command: ["a", 1] } }, /`command` must be a list of words/],
    [{ x: { command: ["a\0b"] } }, /`command` must be a list of words/],
    [{ x: { ...good, description: 1 } }, /`description` must be a text/],
    [{ x: { ...good, parameters: [] } }, /`parameters` must be a JSON schema of type object/],
    [{ x: { ...good, parameters: { type: "string" } } }, /a JSON schema of type object/],
    [
      { x: { ...good, parameters: { city: "string" } } },
      /`parameters` must be a JSON schema of type object: \{ type: object, properties: \{ … \} \}/,
    ],
    [{ x: { ...good, read_only: "yes" } }, /`read_only` must be `true` or `false`/],
    [{ x: { ...good, timeout: 0 } }, /`timeout` must be a number of seconds from 1 to 3600/],
    [{ x: { ...good, timeout: 3601 } }, /from 1 to 3600/],
    [{ x: { ...good, env: "HOME" } }, /`env` must be a list of names of environment variables/],
    [{ x: { ...good, env: ["A=B"] } }, /`env` must be a list of names/],
    [{ x: { ...good, readonly: true } }, /does not know `readonly`. Did you mean `read_only`\?/],
    [{ x: { ...good, constructor: 1 } }, /does not know `constructor`/],
  ];
  for (const [map, expected] of refusals) {
    it(`refuses ${JSON.stringify(map).slice(0, 60)}`, () => {
      assert.throws(() => checkOwnTools(map, "own_tools"), {
        code: "invalid_request",
        message: expected,
      });
    });
  }
});
