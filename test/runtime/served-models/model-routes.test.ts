/** Which model a client's name means. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelTarget } from "../../../src/responses/models/model-target.ts";
import { toCatalog } from "../../../src/runtime/config/config-vendors.ts";
import { type ModelRoutes, routeModel } from "../../../src/runtime/served-models/model-routes.ts";

const target = (model: string, url: string | null = null): ModelTarget => ({
  model,
  url,
  api_key_name: null,
  provider: url === null ? null : "openai-chat",
});

const OWN = "http://127.0.0.1:1/v1";

describe("the model that a request names", () => {
  it("is refused as the API refuses it, if it is unknown", () => {
    const routes: ModelRoutes = { named: [], usual: target("embedded/offline") };
    for (const name of ["nothing", "nobody/nothing", "embedded/other"]) {
      assert.throws(() => routeModel(routes, name), {
        code: "model_not_found",
        param: "model",
        message: `The model \`${name}\` does not exist or is not served here.`,
      });
    }
  });

  it("is chosen by a client that names it, even if the server only fell back to it", () => {
    const usual = { ...target("embedded/offline"), fell_back: true };
    const routes: ModelRoutes = { named: [], usual };
    for (const name of ["embedded/offline", "offline", "embedded"]) {
      assert.deepEqual(routeModel(routes, name), target("embedded/offline"), name);
    }
    for (const nothing of [undefined, null, ""]) assert.equal(routeModel(routes, nothing), usual);
  });

  it("is asked at the usual model's address, even if another vendor has such a name", () => {
    const routes: ModelRoutes = { named: [], usual: target("custom/first", OWN) };
    for (const [name, model] of [
      ["second", "custom/second"],
      // A plain name belongs to that server, even if another vendor has a similar one.
      ["gpt-4o", "custom/gpt-4o"],
      ["team/second", "custom/team/second"],
      // Servers of the user's own have models under their makers' names.
      ["openai/gpt-oss-20b", "custom/openai/gpt-oss-20b"],
      ["custom/second", "custom/second"],
      ["custom", "custom/first"],
    ] as const) {
      assert.deepEqual(routeModel(routes, name), target(model, OWN), name);
    }
  });

  it("is one of this server's own list, even if the usual model has an address", () => {
    const routes: ModelRoutes = { named: [], usual: target("custom/first", OWN) };
    for (const [name, model] of [
      ["embedded/offline", "embedded/offline"],
      ["embedded", "embedded/offline"],
      ["offline", "embedded/offline"],
    ] as const) {
      assert.deepEqual(routeModel(routes, name), target(model), name);
    }
    assert.throws(() => routeModel(routes, "embedded/other"), { code: "model_not_found" });
  });

  it("matches a star even with slashes, and the first matching row is used", () => {
    const named = [
      ["team/*", target("openai/a")],
      ["*-fast", target("openai/b")],
      ["*", target("openai/c")],
    ] as const;
    for (const [name, model] of [
      ["team/x", "openai/a"],
      ["team/x/y", "openai/a"],
      ["vllm/very-fast", "openai/b"],
      ["vllm/x", "openai/c"],
      ["a/b/c", "openai/c"],
      ["x", "openai/c"],
    ] as const) {
      assert.equal(routeModel({ named, usual: undefined }, name).model, model, name);
    }
  });

  it("is asked at the given address if the server's own list names that server's model", () => {
    const usual = { ...target("custom/first", OWN), api_key_name: "MINE" };
    const other = target("custom/second", "http://127.0.0.1:2/v1");
    const named = [
      ["fast", target("custom/up")],
      ["far", other],
      ["away", target("openai/gpt-5.1")],
    ] as const;
    const routes: ModelRoutes = { named, usual };
    assert.deepEqual(routeModel(routes, "fast"), { ...usual, model: "custom/up" });
    assert.deepEqual(routeModel(routes, "far"), other);
    assert.deepEqual(routeModel(routes, "away"), target("openai/gpt-5.1"));
  });

  it("may belong to a server without a usual model", () => {
    const own = { vendor: "custom", url: OWN, provider: null, api_key_name: null };
    const routes: ModelRoutes = { named: [], usual: undefined, own };
    const at = { url: OWN, provider: null, api_key_name: null };
    assert.deepEqual(routeModel(routes, "team/x"), { ...at, model: "custom/team/x" });
    assert.deepEqual(routeModel(routes, "custom/x"), { ...at, model: "custom/x" });
    assert.throws(() => routeModel(routes, undefined), { param: "model" });
  });

  it("belongs to a vendor of the settings before it belongs to the given address", () => {
    const catalog = toCatalog({ gpu1: { url: OWN } });
    const routes = { named: [], usual: target("custom/first", OWN), catalog };
    assert.deepEqual(routeModel(routes, "gpu1/org/x"), target("gpu1/org/x"));
    assert.deepEqual(routeModel({ ...routes, usual: undefined }, "gpu1/x"), target("gpu1/x"));
    assert.equal(routeModel(routes, "gpu2/x").model, "custom/gpu2/x");
  });

  it("is unknown if it needs a server that is not set", () => {
    assert.throws(() => routeModel({ named: [], usual: undefined }, "custom/x"), {
      code: "model_not_found",
    });
  });

  it("is not a file of this machine, unless the server's own list names it", () => {
    const path = "gguf:/models/a.gguf";
    for (const usual of [target("custom/first", OWN), undefined]) {
      assert.throws(() => routeModel({ named: [], usual }, path), { code: "model_not_found" });
      const named = [["small", target(path)]] as const;
      assert.deepEqual(routeModel({ named, usual }, "small"), target(path));
    }
    assert.deepEqual(routeModel({ named: [], usual: target(path) }, path), target(path));
  });
});
