import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { readSchema } from "../../src/cli/read-schema.ts";

async function read(t: TestContext, text: string): Promise<JsonObject> {
  const cwd = mkdtempSync(join(tmpdir(), "offshoot-"));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, "city.json"), text);
  return await readSchema("city.json", cwd);
}

describe("a schema in a file", () => {
  it("is given as it is if it is valid", async (t) => {
    assert.deepEqual(await read(t, '{"type": "object"}\n'), { type: "object" });
  });

  it("names the line that breaks JSON", async (t) => {
    await assert.rejects(read(t, '{\n  "type": "object",\n}\n'), {
      code: "invalid_request",
      message: /^The schema `city\.json:3` is not JSON: Expected double-quoted property name\.$/,
    });
  });

  it("names the line of a field that no schema has so", async (t) => {
    await assert.rejects(read(t, '{\n  "properties": {\n    "a": {"type": "strin"}\n  }\n}'), {
      code: "invalid_request",
      message:
        /^The schema `city\.json:3` is not a valid JSON Schema: `properties\/a\/type` must be string, /,
    });
    await assert.rejects(read(t, '{"type": "object",\n"required": "city"}'), {
      message: /^The schema `city\.json:2` is not a valid JSON Schema: required must be array\.$/,
    });
    // The names of fields in a path are escaped.
    await assert.rejects(read(t, '{"properties": {\n\n"a/b~": {"minimum": "1"}}}'), {
      message: /^The schema `city\.json:3` is not a valid/,
    });
  });

  it("names the file without a line if no place is at fault", async (t) => {
    await assert.rejects(read(t, "[1]"), { message: /^The schema `city\.json` is not a JSON Sch/ });
    await assert.rejects(read(t, '{"$ref": "#/$defs/gone"}'), {
      message: /^The schema `city\.json/,
    });
  });
});
