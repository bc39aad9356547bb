import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { CATALOGUE } from "../../src/tools/catalogue/catalogue.ts";
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
  it("gives the model the schema of its arguments", () => {
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
        // A field with a default may be left out.
        required: ["city"],
      },
    });
  });

  it("passes on the checked arguments, with defaults filled in", async () => {
    const input = weather.parse({ city: "Oslo", unknown: true });
    assert.deepEqual(input, { city: "Oslo", days: 1 });
    assert.equal(await weather.run(input, await toContext("/")), "Oslo 1");
  });

  it("names every invalid argument", () => {
    assert.throws(() => weather.parse({ days: 0, unit: "k" }), {
      code: "invalid_request",
      message: /^The arguments of `weather` do not fit: city: .+; days: .+; unit: .+\.$/,
    });
  });

  it("reports arguments that are not an object", () => {
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

  it("no two built-in tools have the same name", () => {
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

  it("gives the model its JSON schema, and gets the model's arguments unchanged", () => {
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

  it("is refused with only another library's schema, and with a name that no vendor accepts", () => {
    const foreign = JSON.parse('{"~standard": {}}');
    assert.throws(() => defineTool({ ...rest, parameters: foreign, run: async () => "x" }), {
      code: "invalid_request",
      param: "parameters",
    });
    const bad = { ...rest, name: "bad name!", parameters, run: async () => "x" };
    assert.throws(() => defineTool(bad), { code: "invalid_request", param: "name" });
  });
});
