import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { createDocument } from "../../src/server/openapi/document.ts";
import { OPERATIONS } from "../../src/server/openapi/operations.ts";
import type { SchemaName } from "../../src/server/openapi/schemas.ts";
import type { JsonAnswer, Route, RouteCall } from "../../src/server/route.ts";
import { createAdminRoutes } from "../../src/server/routes/admin.ts";
import { createConsoleRoutes } from "../../src/server/routes/console.ts";
import { createHealthRoutes } from "../../src/server/routes/health.ts";
import { createMcpRoutes } from "../../src/server/routes/mcp.ts";
import { createMetricsRoutes } from "../../src/server/routes/metrics.ts";
import { createModelRoutes } from "../../src/server/routes/models.ts";
import { createOpenApiRoutes } from "../../src/server/routes/openapi.ts";
import { createToolRoutes } from "../../src/server/routes/tools.ts";
import { createRecordRoutes, createRoutes } from "../../src/server/routes.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

type Responses = Parameters<typeof createRoutes>[0];

/** Only the rows: the handlers are not called. */
const NOTHING = new Proxy({}, { get: () => ({}) }) as Responses;

function toRoutes(responses: Responses, prefix = ""): Route[] {
  const routes = [
    ...createRoutes(responses),
    ...createRecordRoutes(NOTHING as never),
    ...createConsoleRoutes(NOTHING as never),
    ...createAdminRoutes(NOTHING as never),
    ...createMcpRoutes(NOTHING as never),
    ...createToolRoutes(NOTHING as never),
    ...createModelRoutes({ routes: { named: [], usual: undefined }, env: {} }),
    ...createHealthRoutes({ check: async () => undefined, notice: undefined }),
    ...createMetricsRoutes(async () => []),
  ];
  return [...routes, ...createOpenApiRoutes({ routes, prefix })];
}

/** Every object in a document, with where it is. */
function* walk(value: Json | undefined, at = "#"): Generator<[string, JsonObject]> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) yield* walk(one as Json, `${at}/${index}`);
  } else if (isJsonObject(value)) {
    yield [at, value];
    for (const [name, one] of Object.entries(value)) yield* walk(one, `${at}/${name}`);
  }
}

describe("the description of the server", () => {
  let document: JsonObject;
  let check: (name: SchemaName, value: unknown) => string[];
  const fieldOf = (value: Json | undefined, name: string): JsonObject => {
    const field = isJsonObject(value) ? value[name] : undefined;
    return isJsonObject(field) ? field : assert.fail(`${name} is not an object`);
  };

  before(() => {
    document = JSON.parse(JSON.stringify(createDocument(toRoutes(NOTHING)))) as JsonObject;
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema({ ...document, $id: "document" });
    check = (name, value) => {
      const validate = ajv.getSchema(`document#/components/schemas/${name}`) ?? assert.fail(name);
      validate(value);
      return (validate.errors ?? []).map(
        ({ instancePath, message }) => `${instancePath} ${message}`,
      );
    };
  });

  it("has an operation for every route, and no other", () => {
    const names = toRoutes(NOTHING).map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(Object.keys(OPERATIONS).sort(), names.sort());
  });

  it("is OpenAPI 3.1: versions, paths, parameters, answers", () => {
    assert.equal(document["openapi"], "3.1.0");
    const ids = new Set<unknown>();
    for (const [path, methods] of Object.entries(fieldOf(document, "paths"))) {
      assert.match(path, /^\/[a-z0-9_./{}]*$/);
      for (const [method, operation] of Object.entries(methods as JsonObject)) {
        const { operationId, parameters, responses } = operation as JsonObject;
        assert.ok(!ids.has(operationId), String(operationId));
        ids.add(operationId);
        assert.ok(["get", "post", "delete"].includes(method));
        const inPath = (parameters as JsonObject[]).filter((one) => one["in"] === "path");
        assert.deepEqual(
          inPath.map(({ name }) => `{${String(name)}}`),
          path.match(/\{\w+\}/g) ?? [],
        );
        assert.ok(inPath.every(({ required }) => required === true));
        for (const [status, answer] of Object.entries(responses as JsonObject)) {
          assert.match(status, /^(200|default)$/);
          assert.equal(typeof (answer as JsonObject)["description"], "string");
        }
      }
    }
    assert.ok(ids.size > 40);
  });

  it("refers to nothing that is not there", () => {
    const refs = [...walk(document)].flatMap(([, { $ref }]) =>
      typeof $ref === "string" ? $ref : [],
    );
    const schemas = fieldOf(fieldOf(document, "components"), "schemas");
    assert.ok(refs.length > 100);
    for (const ref of refs) {
      const name = /^#\/components\/schemas\/(\w+)$/.exec(ref)?.[1] ?? assert.fail(ref);
      assert.ok(name in schemas, ref);
    }
  });

  it("has schemas that compile, and that say what requests are", () => {
    const schemas = fieldOf(fieldOf(document, "components"), "schemas");
    for (const name of Object.keys(schemas)) check(name as SchemaName, {});
    const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
    const fine = [
      { input: "Hi" },
      { input: [{ role: "user", content: "Hi" }, call, { type: "made_up", x: 1 }], new_field: 1 },
      { model: "m", input: "Hi", tools: [{ type: "function", name: "f" }], tool_choice: "auto" },
      { input: null, temperature: 0.5, metadata: { a: "b" } },
    ];
    for (const body of fine) assert.deepEqual(check("CreateResponse", body), []);
    const wrong = [
      { input: 7 },
      { temperature: 9 },
      { input: [{ type: "function_call" }] },
      { tool_choice: "perhaps" },
    ];
    for (const body of wrong) assert.notDeepEqual(check("CreateResponse", body), []);
    assert.deepEqual(check("CreateEmbeddings", { model: "m", input: [[1, 2]] }), []);
    assert.notDeepEqual(check("CreateEmbeddings", { model: "m", input: "a", more: 1 }), []);
    assert.notDeepEqual(check("CreateEmbeddings", { input: "a" }), []);
    assert.deepEqual(check("ChatRequest", { messages: [{ role: "user", content: "Hi" }] }), []);
    assert.notDeepEqual(check("ChatRequest", { messages: [{ role: "king" }] }), []);
  });

  it("fits what the server answers", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    const ask = async (name: SchemaName, method: string, path: string, body?: unknown) => {
      const answer = await server.ask(method, path, body);
      assert.deepEqual(check(name, answer.body), [], `${path}: ${JSON.stringify(answer.body)}`);
      return String((answer.body as { id?: string }).id);
    };
    const response = await ask("Response", "POST", "/v1/responses", { input: "Hi" });
    await ask("Response", "GET", `/v1/responses/${response}`);
    await ask("StoredItemList", "GET", `/v1/responses/${response}/input_items`);
    await ask("InputTokens", "POST", "/v1/responses/input_tokens", { input: "Hi" });
    await ask("DeletedResponse", "DELETE", `/v1/responses/${response}`);
    await ask("Error", "GET", `/v1/responses/${response}`);
    const items = [{ role: "user", content: "Hi" }];
    const conversation = await ask("Conversation", "POST", "/v1/conversations", { items });
    await ask("StoredItemList", "GET", `/v1/conversations/${conversation}/items`);
    await ask("DeletedConversation", "DELETE", `/v1/conversations/${conversation}`);
    const messages = [{ role: "user", content: "Hi" }];
    await ask("ChatCompletion", "POST", "/v1/chat/completions", { messages });
    await ask("Embeddings", "POST", "/v1/embeddings", { model: "embedded", input: "Hi" });
    const store = await ask("VectorStore", "POST", "/v1/vector_stores", { name: "s" });
    await ask("VectorStoreList", "GET", "/v1/vector_stores");
    await ask("VectorStoreSearch", "POST", `/v1/vector_stores/${store}/search`, { query: "x" });
    await ask("DeletedVectorStore", "DELETE", `/v1/vector_stores/${store}`);
    const container = await ask("Container", "POST", "/v1/containers", { name: "c" });
    await ask("ContainerList", "GET", "/v1/containers");
    await ask("ContainerFileList", "GET", `/v1/containers/${container}/files`);
    await ask("StoredFileList", "GET", "/v1/files");
    const stream = await server.stream({ input: "Hi" });
    for (const event of stream) assert.deepEqual(check("ResponseEvent", event), []);
  });

  it("is at an address that anybody may ask, and says the path in front of all", async () => {
    const route = toRoutes(NOTHING, "/keep").at(-1) ?? assert.fail();
    assert.deepEqual([route.path, route.scope], ["/openapi.json", null]);
    const { body } = (await route.handle({} as RouteCall)) as JsonAnswer;
    assert.deepEqual((body as JsonObject)["servers"], [{ url: "/keep" }]);
    const { paths } = body as { paths: Record<string, Record<string, { security: unknown }>> };
    assert.deepEqual(paths["/openapi.json"]?.["get"]?.security, []);
    assert.deepEqual(paths["/v1/files"]?.["get"]?.security, [{ key: ["files"] }]);
  });
});
