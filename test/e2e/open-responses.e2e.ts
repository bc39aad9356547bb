/** The standard's cases against the built command, with the model that needs no key. */

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { describeOpenResponses } from "../conformance/open-responses-suite.ts";
import { type Served, serve } from "./served.ts";

const model = "embedded/offline";

describe("Open Responses over `offshoot serve`", () => {
  let served: Served | undefined;
  before(async () => {
    served = await serve({ args: ["-m", model] });
  });
  after(async () => {
    await served?.[Symbol.asyncDispose]();
  });
  describeOpenResponses(() => ({ url: served?.url ?? assert.fail(), model }));
});
