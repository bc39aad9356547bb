/** The standard's cases on the embedded model and on every scripted provider. */

import assert from "node:assert/strict";
import { before, describe } from "node:test";
import { respond } from "../../src/testing/index.ts";
import { answerOpenResponses, describeOpenResponses } from "./open-responses-suite.ts";
import { PROVIDER_NAMES, startProviderServer, suiteContext } from "./provider-servers.ts";

for (const name of PROVIDER_NAMES) {
  describe(`Open Responses over ${name}`, () => {
    const context = suiteContext();
    let url: string | undefined;
    before(async () => {
      const engine = respond(answerOpenResponses);
      const { server } = await startProviderServer(context, name, engine);
      url = server.url;
    });
    describeOpenResponses(() => url ?? assert.fail());
  });
}
