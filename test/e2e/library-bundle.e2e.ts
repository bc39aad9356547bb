/** The built library has its own copy of zod; programs pass it schemas of theirs. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";

const built = new URL("../../../dist/", import.meta.url);
const library = (await import(
  new URL("index.js", built).href
)) as typeof import("../../src/index.ts");
const protocol = (await import(
  new URL("protocol/index.js", built).href
)) as typeof import("../../src/protocol/index.ts");

describe("the built library", () => {
  it("understands schemas of another copy of zod, with their descriptions", () => {
    const { spec, parse } = library.defineTool({
      name: "weather",
      description: "Tells the weather.",
      readOnly: true,
      parameters: z.object({
        city: z.string().describe("A town"),
        unit: z.enum(["C", "F"]).default("C"),
      }),
      run: async ({ city, unit }) => `${city} ${unit}`,
    });
    assert.deepEqual(spec.parameters?.["properties"], {
      city: { type: "string", description: "A town" },
      unit: { type: "string", enum: ["C", "F"], default: "C" },
    });
    assert.deepEqual(parse({ city: "Rome" }), { city: "Rome", unit: "C" });
    assert.throws(() => parse({ city: 1 }), { name: "Failure", code: "invalid_request" });
  });

  it("has schemas that another copy of zod can use", () => {
    const page = z.object({ items: z.array(protocol.Item) });
    const item = { type: "message", role: "user", content: "hello" };
    assert.deepEqual(page.parse({ items: [item] }), { items: [item] });
    assert.ok(protocol.Item instanceof z.ZodType);
  });
});
