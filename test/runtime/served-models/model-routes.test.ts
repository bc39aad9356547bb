/** Which model a client's word for it means. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelTarget } from "../../../src/responses/models/model-target.ts";
import { toCatalog } from "../../../src/runtime/config/config-vendors.ts";
import { type ModelRoutes, routeModel } from "../../../src/runtime/served-models/model-routes.ts";

const target = (model: string, url: string | null = null): ModelTarget => ({
  ...{ model, url, api_key_name: null, provider: url === null ? null : "openai-chat" },
});

const OWN = "http://127.0.0.1:1/v1";

describe("the model that a request names", () => {
  it("is refused as the API refuses it, where it is nobody's", () => {
    const routes: ModelRoutes = { named: [], usual: target("embedded/offline") };
    for (const name of ["nothing", "nobody/nothing", "embedded/other"]) {
      assert.throws(() => routeModel(routes, name), {
        ...{ code: "model_not_found", param: "model" },
        message: `The model \`${name}\` does not exist or is not served here.`,
      });
    }
  });

  it("is chosen by whoever names it, also where the server only fell back to it", () => {
    const usual = { ...target("embedded/offline"), fell_back: true };
    const routes: ModelRoutes = { named: [], usual };
    for (const name of ["embedded/offline", "offline", "embedded"]) {
      assert.deepEqual(routeModel(routes, name), target("embedded/offline"), name);
    }
    for (const nothing of [undefined, null, ""]) assert.equal(routeModel(routes, nothing), usual);
  });

  it("goes to the address of the usual one whoever else has such a name", () => {
    const routes: ModelRoutes = { named: [], usual: target("custom/first", OWN) };
    for (const [name, model] of [
      ["second", "custom/second"],
      // A plain name is one of that server's own, whoever else has one like it.
      ["gpt-4o", "custom/gpt-4o"],
      ["team/second", "custom/team/second"],
      // Servers of one's own have models under the names of who made them.
      ["openai/gpt-oss-20b", "custom/openai/gpt-oss-20b"],
      ["custom/second", "custom/second"],
      ["custom", "custom/first"],
    ] as const) {
      assert.deepEqual(routeModel(routes, name), target(model, OWN), name);
    }
  });

  it("is this server's own where it says so, also where the usual one has an address", () => {
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

  it("fits a star whatever slashes it has, and the first row that fits counts", () => {
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

  it("is asked at the given address where the server's own list names that server's model", () => {
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

  it("is one of a server's that has no usual model", () => {
    const own = { vendor: "custom", url: OWN, provider: null, api_key_name: null };
    const routes: ModelRoutes = { named: [], usual: undefined, own };
    const at = { url: OWN, provider: null, api_key_name: null };
    assert.deepEqual(routeModel(routes, "team/x"), { ...at, model: "custom/team/x" });
    assert.deepEqual(routeModel(routes, "custom/x"), { ...at, model: "custom/x" });
    assert.throws(() => routeModel(routes, undefined), { param: "model" });
  });

  it("is one of a vendor of the settings before it is one of the given address's", () => {
    const catalog = toCatalog({ gpu1: { url: OWN } });
    const routes = { named: [], usual: target("custom/first", OWN), catalog };
    assert.deepEqual(routeModel(routes, "gpu1/org/x"), target("gpu1/org/x"));
    assert.deepEqual(routeModel({ ...routes, usual: undefined }, "gpu1/x"), target("gpu1/x"));
    assert.equal(routeModel(routes, "gpu2/x").model, "custom/gpu2/x");
  });

  it("is unknown where it is of a server that nobody has given", () => {
    assert.throws(() => routeModel({ named: [], usual: undefined }, "custom/x"), {
      code: "model_not_found",
    });
  });

  it("is no file of this machine, unless the server's own list names it", () => {
    const path = "gguf:/models/a.gguf";
    for (const usual of [target("custom/first", OWN), undefined]) {
      assert.throws(() => routeModel({ named: [], usual }, path), { code: "model_not_found" });
      const named = [["small", target(path)]] as const;
      assert.deepEqual(routeModel({ named, usual }, "small"), target(path));
    }
    assert.deepEqual(routeModel({ named: [], usual: target(path) }, path), target(path));
  });
});
