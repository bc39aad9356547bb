/** The standard's cases on the embedded model and over every wire. */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { WIRES } from "../../src/providers/wires.ts";
import { respond } from "../../src/testing/index.ts";
import {
  answerOpenResponses,
  describeOpenResponses,
  type SuiteServer,
} from "./open-responses-suite.ts";
import { SERVED, SERVED_NAMES, startProviderServer, suiteContext } from "./provider-servers.ts";

it("every wire has a server that the cases run over", () => {
  const spoken = SERVED_NAMES.flatMap((name) => SERVED[name].provider ?? []);
  assert.deepEqual(spoken.sort(), Object.keys(WIRES).sort());
});

for (const name of SERVED_NAMES) {
  describe(`Open Responses over ${name}`, () => {
    const context = suiteContext();
    let opened: SuiteServer | undefined;
    before(async () => {
      const engine = respond(answerOpenResponses);
      const { server } = await startProviderServer(context, name, engine);
      opened = { url: server.url, model: SERVED[name].model };
    });
    describeOpenResponses(() => opened ?? assert.fail());
  });
}
