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
});
