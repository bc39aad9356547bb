/** A vendor's own fields in the request of a key, and which of them are passed on. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { SAMPLING_FIELDS } from "../../../src/providers/http/carried-fields.ts";
import { allowOptions } from "../../../src/responses/request/allow-options.ts";
import type { AskedResponse } from "../../../src/responses/request/asked-response.ts";
import type { Caller } from "../../../src/responses/tenant/caller.ts";

const CALLER: Caller = {
  tenant: "a",
  keyId: "k",
  catalogue: [],
  limits: NO_LIMITS,
  options: SAMPLING_FIELDS,
};

function asked(extras: JsonObject, options?: JsonObject): AskedResponse {
  return { request: { options }, extras, ignored: [] } as unknown as AskedResponse;
}

describe("fields of a vendor's own", () => {
  it("set variables of a template, and never the template or what fills it", () => {
    const plain = { chat_template_kwargs: { enable_thinking: false } };
    assert.deepEqual(allowOptions(asked(plain), CALLER).extras, plain);
    for (const name of ["chat_template", "tokenize", "messages", "conversation", "tools"]) {
      const extras = { chat_template_kwargs: { [name]: "x" }, top_k: 1 };
      const { extras: kept, ignored } = allowOptions(asked(extras), CALLER);
      assert.deepEqual([kept, ignored], [{ top_k: 1 }, ["chat_template_kwargs"]], name);
      const all = { ...CALLER, options: ["*"] };
      const named = new RegExp(`chat_template_kwargs.${name}`);
      assert.throws(() => allowOptions(asked({}, extras), all), named);
    }
  });

  it("switch on no tools for a key that has a list of tools and a pattern of fields", () => {
    const options = { plugins: [{ id: "web" }] };
    const narrow = { ...CALLER, kinds: ["file_search"], options: ["*"] };
    assert.throws(() => allowOptions(asked({}, options), narrow), { code: "forbidden" });
    assert.deepEqual(allowOptions(asked(options), narrow).ignored, ["plugins"]);
    const named = { ...narrow, options: ["*", "plugins"] };
    assert.deepEqual(allowOptions(asked(options), named).extras, options);
    assert.ok(allowOptions(asked({}, options), { ...CALLER, options: ["*"] }));
  });
});
