import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { CATALOGUE } from "../../src/tools/catalogue.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { toContext } from "./workspace-folder.ts";

const weather = defineTool({
  name: "weather",
  description: "Tells the weather.",
  parameters: z.object({
    city: z.string().min(1).describe("Where."),
    days: z.int().min(1).default(1),
    unit: z.enum(["c", "f"]).optional(),
  }),
  readOnly: true,
  run: async ({ city, days }) => `${city} ${days}`,
});

describe("defineTool", () => {
  it("tells the model the schema of what it may write", () => {
    assert.deepEqual(weather.spec, {
      type: "function",
      name: "weather",
      description: "Tells the weather.",
      strict: false,
      parameters: {
        type: "object",
        properties: {
          city: { type: "string", minLength: 1, description: "Where." },
          days: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 },
          unit: { type: "string", enum: ["c", "f"] },
        },
        // What has a default may be left out.
        required: ["city"],
      },
    });
  });

  it("hands the checked arguments on, defaults filled in", async () => {
    const input = weather.parse({ city: "Oslo", unknown: true });
    assert.deepEqual(input, { city: "Oslo", days: 1 });
    assert.equal(await weather.run(input, await toContext("/")), "Oslo 1");
  });

  it("names every argument that does not fit", () => {
    assert.throws(() => weather.parse({ days: 0, unit: "k" }), {
      code: "invalid_request",
      message: /^The arguments of `weather` do not fit: city: .+; days: .+; unit: .+\.$/,
    });
  });

  it("says so when the arguments are no object at all", () => {
    assert.throws(() => weather.parse([1]), /do not fit: arguments: /);
  });
});

describe("the built-in tools", () => {
  for (const {
    tool: { spec },
  } of CATALOGUE) {
    it(`describe themselves and every argument: ${spec.name}`, () => {
      assert.match(spec.name, /^[a-z]+(_[a-z]+)*$/);
      assert.match(spec.description ?? "", /\.$/);
      const { type, properties } = spec.parameters as Record<string, object>;
      assert.equal(type, "object");
      for (const [name, schema] of Object.entries(properties ?? {})) {
        assert.ok(Object.hasOwn(schema, "description"), name);
      }
    });
  }

  it("have names of their own", () => {
    assert.equal(new Set(CATALOGUE.map(({ tool }) => tool.spec.name)).size, CATALOGUE.length);
  });
});

describe("a tool with a schema that is not of zod 4", () => {
  const parameters = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  };
  const rest = { name: "weather", description: "The weather.", readOnly: true } as const;
  const standard = {
    "~standard": {
      validate: (value: unknown) =>
        value !== null && typeof value === "object" && "city" in value
          ? { value: { city: String(value.city) } }
          : { issues: [{ message: "is missing", path: ["city"] }] },
    },
  };

  it("tells the model its JSON schema, and gets what the model wrote", () => {
    const tool = defineTool({ ...rest, parameters, run: async ({ city = null }) => city });
    assert.deepEqual(tool.spec.parameters, parameters);
    assert.deepEqual(tool.parse({ city: "Oslo" }), { city: "Oslo" });
    assert.throws(() => tool.parse("Oslo"), /expected an object/);
  });

  it("checks the arguments by a Standard Schema", () => {
    const tool = defineTool({ ...rest, parameters, validate: standard, run: async () => "fine" });
    assert.deepEqual(tool.parse({ city: "Oslo" }), { city: "Oslo" });
    assert.throws(
      () => tool.parse({}),
      /The arguments of `weather` do not fit: city: is missing\./,
    );
  });

  it("is refused with another library's schema alone, and with a name no vendor takes", () => {
    const foreign = JSON.parse('{"~standard": {}}');
    assert.throws(() => defineTool({ ...rest, parameters: foreign, run: async () => "x" }), {
      code: "invalid_request",
      param: "parameters",
    });
    const bad = { ...rest, name: "bad name!", parameters, run: async () => "x" };
    assert.throws(() => defineTool(bad), { code: "invalid_request", param: "name" });
  });
});
