/** Which model a client's word for it means. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type ModelRoutes,
  type ModelTarget,
  routeModel,
} from "../../../src/runtime/responses/model-routes.ts";

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
