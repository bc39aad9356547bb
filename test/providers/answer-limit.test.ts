/** An answer that is larger than the limit, over every wire: as a stream, whole, and as an error. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import { createTransport } from "../../src/providers/http/transport.ts";
import { reply, type Script, script, type Upstream } from "../../src/testing/index.ts";
import { patience } from "../patience.ts";
import { CONTRACT_WIRES, type ContractWire, providerOver } from "./contract-wires.ts";
import { request } from "./provider-contract.ts";

const MAX_BYTES = 20_000;
const transport = createTransport({}, { maxAnswerBytes: MAX_BYTES });
const upstreams: Upstream[] = [];
after(async () => {
  await transport.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

const ENDLESS = "All work and no play makes a model a dull one. ".repeat(2000);

async function open(row: ContractWire, engine: Script) {
  const upstream = await row.start({ engine });
  upstreams.push(upstream);
  return { upstream, provider: await providerOver(row, upstream, { transport, isSilent: false }) };
}

function namesLimit(thrown: unknown): true {
  assert.ok(thrown instanceof Failure);
  assert.equal(thrown.code, "answer_too_large", thrown.message);
  assert.match(thrown.message, /larger than 20000 bytes.*`max_answer_bytes`/);
  return true;
}

/** The item of a text that was cut is not ended. */
function checkBeginning(events: readonly ModelEvent[]): void {
  const text = events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");
  assert.ok(text.length > 0 && text.length <= MAX_BYTES, `${text.length} characters`);
  assert.ok(ENDLESS.startsWith(text));
  assert.ok(events.every(({ type }) => type !== "item_end" && type !== "end"));
}

/** A server that only streams gets the request in another form. */
function checkAskedOnce({ requests }: Upstream): void {
  const asked = requests.map(({ body }) => JSON.stringify(body));
  assert.equal(new Set(asked).size, asked.length);
}

for (const row of CONTRACT_WIRES) {
  describe(`an answer larger than the limit, over ${row.name}`, () => {
    it("emits everything within the limit, then fails and is not retried", async () => {
      const { provider, upstream } = await open(row, script(reply.text(ENDLESS)));
      const events: ModelEvent[] = [];
      const signal = patience();
      await assert.rejects(async () => {
        for await (const batch of provider.stream(request(), { signal })) events.push(...batch);
      }, namesLimit);
      checkBeginning(events);
      checkAskedOnce(upstream);
    });

    it("keeps everything within the limit if the client does not stream", async () => {
      const { provider, upstream } = await open(row, script(reply.text(ENDLESS)));
      const call = { signal: patience() };
      const answer = (await provider.answer?.(request({ whole: true }), call)) ?? assert.fail();
      namesLimit(answer.failure);
      checkBeginning(answer.events);
      checkAskedOnce(upstream);
    });

    it("does so, too, if it is one document in place of a stream", async () => {
      const { provider, upstream } = await open(row, script(reply.text(ENDLESS)));
      const events: ModelEvent[] = [];
      const call = { signal: patience() };
      await assert.rejects(async () => {
        for await (const batch of provider.stream(request({ whole: true }), call)) {
          events.push(...batch);
        }
      }, namesLimit);
      checkBeginning(events);
      checkAskedOnce(upstream);
    });
  });
}
