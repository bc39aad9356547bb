/**
 * Every scenario on every provider, plain, streamed, stored and in the background: the answer is valid by
 * both descriptions, in the order of recorded streams, and the same in every mode.
 */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { type Reply, reply, respond } from "../../src/testing/index.ts";
import { checkEvents, checkPublished, checkResponse } from "./check.ts";
import { nativeReply } from "./native-reply.ts";
import {
  type ProviderServer,
  SCRIPTED_NAMES,
  startProviderServer,
  suiteContext,
} from "./provider-servers.ts";
import { FILES, MACHINE, WEB_TOOLS } from "./scenario-server.ts";
import { bodyOf, SCENARIOS, type Scenario } from "./scenarios.ts";

for (const name of SCRIPTED_NAMES) {
  describe(`every scenario over ${name}`, () => {
    const context = suiteContext();
    let opened: ProviderServer | undefined;
    let answer: (request: ModelRequest) => Reply = () => reply.text("");
    before(async () => {
      const engine = respond((request) => answer(request));
      // Scenarios show this server's own tools; of vendors, those of OpenAI are used.
      const nativeTools = name === "responses" ? ["*"] : [];
      const settings = { machine: MACHINE, nativeTools };
      const setup = { files: FILES, tools: WEB_TOOLS, settings };
      opened = await startProviderServer(context, name, engine, setup);
    });

    for (const scenario of SCENARIOS) {
      it(`is valid, plain, streamed and in the background: ${scenario.name}`, async () => {
        const { native } = scenario;
        answer = name === "responses" && native ? () => nativeReply(native) : scenario.answer;
        await checkScenario(opened ?? assert.fail(), scenario);
      });
    }
  });
}

async function checkScenario({ server }: ProviderServer, scenario: Scenario): Promise<void> {
  const { status, items } = scenario;
  const body = await bodyOf(scenario, server);
  const events = await server.stream(body);
  checkEvents(events);
  const last = events.at(-1);
  assert.ok(last && "response" in last);
  assert.deepEqual(shapeOf(last.response, items), { status, items });

  const { id } = last.response;
  const kept = await server.ask("GET", `/v1/responses/${id}`);
  assert.deepEqual(kept, { status: 200, body: JSON.parse(JSON.stringify(last.response)) });
  const listed = await server.ask("GET", `/v1/responses/${id}/input_items`);
  assert.equal(listed.status, 200);
  checkPublished("ResponseItemList", listed.body);

  const told = await server.stream({ ...body, background: true });
  checkEvents(told);
  const ended = told.at(-1);
  assert.ok(ended && "response" in ended);
  assert.deepEqual(shapeOf(ended.response, items), { status, items });

  // A failure before any output is an HTTP error.
  if (status === "failed") return;
  const plain = await server.create({ ...body, store: false });
  checkResponse(plain);
  assert.deepEqual(shapeOf(plain, items), { status, items });
}

/** Reasoning without visible text is left out: some vendors seal every answer. */
function shapeOf({ status, output }: EmittedResponse, expected: Scenario["items"]): object {
  const shown = output.filter(
    (item) => item.type !== "reasoning" || item.summary.length > 0 || item.content?.length,
  );
  return { status, items: expected && shown.map(({ type }) => type) };
}
