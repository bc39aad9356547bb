import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Caller } from "../../../src/responses/tenant/caller.ts";
import type { JsonAnswer, RouteAnswer, RouteCall } from "../../../src/server/route.ts";
import { createModelRoutes } from "../../../src/server/routes/models.ts";
import { checkPublished } from "../../conformance/check.ts";
import { ANYBODY } from "../server-fixture.ts";

const TARGET = { model: "openai/gpt-5.1", provider: null, url: null, api_key_name: null };

const ASKED = { request: { headers: {} }, query: new URLSearchParams() } as unknown as RouteCall;

describe("the models over HTTP", () => {
  const routes = createModelRoutes({
    routes: {
      named: [
        ["fast", TARGET],
        ["gpt-*", TARGET],
      ],
      usual: { ...TARGET, model: "custom/own" },
    },
    env: { ANTHROPIC_API_KEY: "set" },
    sizesOf: (name) => ({
      contextTokens: name === "fast" ? 400_000 : undefined,
      maxOutputTokens: name === "fast" ? 128_000 : undefined,
    }),
  });
  const ask = async (
    path: string,
    params: Record<string, string>,
    caller: Partial<Caller> = {},
  ) => {
    const route = routes.find((one) => one.path === path) ?? assert.fail(path);
    const call = { ...ASKED, params, caller: { ...ANYBODY, ...caller } } as unknown as RouteCall;
    return ((await route.handle(call)) as JsonAnswer).body as Record<string, unknown>;
  };
  const idsOf = (list: Record<string, unknown>): string[] =>
    (list["data"] as { id: string }[]).map(({ id }) => id);

  it("are the server's own names and those of vendors whose key is set, as the API has them", async () => {
    const list = await ask("/v1/models", {});
    const ids = idsOf(list);
    assert.deepEqual(ids.slice(0, 2), ["fast", "custom/own"]);
    assert.ok(ids.some((id) => id.startsWith("anthropic/")));
    assert.ok(!ids.some((id) => id.startsWith("openai/") || id.includes("*")));
    checkPublished("ListModelsResponse", list);
  });

  it("are the one that makes vectors too", async () => {
    const [all = assert.fail()] = createModelRoutes({
      routes: { named: [["fast", TARGET]], usual: undefined },
      env: {},
      embeddings: "text-embedding-3-small",
    });
    const { body } = (await all.handle({ ...ASKED, caller: ANYBODY } as RouteCall)) as JsonAnswer;
    assert.deepEqual(idsOf(body as Record<string, unknown>).slice(0, 2), [
      "fast",
      "text-embedding-3-small",
    ]);
  });

  it("are those of the server that it asks too, under that server's names", async () => {
    const listed = createModelRoutes({
      routes: { named: [["fast", TARGET]], usual: { ...TARGET, model: "custom/own" } },
      env: {},
      listUpstream: async () => [
        { id: "org/model", created: 7, owned_by: "org" },
        { id: "fast", created: 8, owned_by: "org" },
      ],
    });
    const [all = assert.fail(), , one = assert.fail()] = listed;
    const call = (params: object): RouteCall =>
      ({ ...ASKED, params, caller: ANYBODY }) as RouteCall;
    const { body } = (await all.handle(call({}))) as JsonAnswer;
    const { data } = body as { data: { id: string; owned_by: string; created: number }[] };
    assert.deepEqual(
      data.slice(0, 3).map(({ id, owned_by, created }) => [id, owned_by, created]),
      [
        ["fast", "offshoot", 0],
        ["org/model", "org", 7],
        ["custom/own", "custom", 0],
      ],
    );
    checkPublished("ListModelsResponse", body);
    const found = (await one.handle(call({ vendor: "org", id: "model" }))) as JsonAnswer;
    assert.equal((found.body as { id: string }).id, "org/model");
  });

  it("are found by their names, with the slash escaped or not", async () => {
    assert.equal((await ask("/v1/models/:id", { id: "custom/own" }))["owned_by"], "custom");
    const found = await ask("/v1/models/:vendor/:id", { vendor: "custom", id: "own" });
    assert.equal(found["id"], "custom/own");
    await assert.rejects(ask("/v1/models/:id", { id: "nothing" }), { code: "model_not_found" });
  });

  it("are those that the key may ask", async () => {
    const caller = { models: ["fa*"] };
    assert.deepEqual(idsOf(await ask("/v1/models", {}, caller)), ["fast"]);
    await assert.rejects(ask("/v1/models/:id", { id: "custom/own" }, caller), {
      code: "model_not_found",
    });
  });

  it("have an id for clients of the Messages API, and no version that was never published", async () => {
    for (const path of ["/v1/models", "/v1/models/:id"]) {
      const answerOf = (version: string): Promise<RouteAnswer> => {
        const request = { headers: { "anthropic-version": version } };
        const asked = { ...ASKED, request, params: { id: "fast" }, caller: ANYBODY };
        const route = routes.find((one) => one.path === path) ?? assert.fail(path);
        return route.handle(asked as unknown as RouteCall);
      };
      const { headers } = await answerOf("2023-06-01");
      assert.match(headers?.["request-id"] ?? "", /^req_/);
      await assert.rejects(answerOf("2031-01-01"), { code: "invalid_request" });
    }
  });

  it("have the shape of the Messages API for clients that name its version", async () => {
    const request = { headers: { "anthropic-version": "2023-06-01" } };
    const route = (path: string) => routes.find((one) => one.path === path) ?? assert.fail(path);
    const answerOf = async (path: string, query: string, params: object = {}): Promise<object> => {
      const asked = { request, params, caller: ANYBODY, query: new URLSearchParams(query) };
      const answer = await route(path).handle(asked as unknown as RouteCall);
      return (answer as JsonAnswer).body;
    };
    const shown = {
      type: "model",
      id: "fast",
      display_name: "fast",
      created_at: "1970-01-01T00:00:00Z",
      lifecycle: "active",
      max_input_tokens: 400_000,
      max_tokens: 128_000,
      capabilities: null,
      line: null,
      deprecated_at: null,
      retires_at: null,
    };
    const first = { data: [shown], has_more: true, first_id: "fast", last_id: "fast" };
    assert.deepEqual(await answerOf("/v1/models", "limit=1"), first);
    const next = (await answerOf("/v1/models", "limit=1&after_id=fast")) as {
      first_id: string;
      data: { max_tokens: number | null }[];
    };
    assert.equal(next.first_id, "custom/own");
    assert.equal(next.data[0]?.max_tokens, null, "unknown");
    assert.deepEqual(await answerOf("/v1/models/:id", "", { id: "fast" }), shown);
    await assert.rejects(answerOf("/v1/models", "limit=0"), { code: "invalid_request" });
  });
});
