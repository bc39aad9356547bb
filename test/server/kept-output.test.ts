/**
 * The output of a response is stored beside its log, and a request that continues it reads no log.
 */

import assert from "node:assert/strict";
import { it } from "node:test";
import { readSaid } from "../../src/responses/fold/read-response.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { OUTPUT_KIND } from "../../src/responses/kept/kept-output.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { ANYBODY, startServer } from "./server-fixture.ts";

const MODEL = respond(() => reply.text("Foxes are kind."));

it("keeps what the log says, once, with its response", async (t) => {
  const server = await startServer(t, MODEL, { storePath: newDatabasePath() });
  const { shelf, durable } = server.responses;
  for (const stream of [false, true]) {
    const id = stream
      ? idOf(await server.stream({ input: "Hi" }))
      : (await server.create({ input: "Hi" })).id;
    const kept = await shelf.get({ tenant: ANYBODY.tenant, kind: OUTPUT_KIND, id });
    assert.deepEqual(kept?.body, await readSaid(durable, toRunId(id)));
    await server.ask("DELETE", `/v1/responses/${id}`);
    assert.equal(await shelf.get({ tenant: ANYBODY.tenant, kind: OUTPUT_KIND, id }), undefined);
  }
});

it("continues a response without reading its log", async (t) => {
  const server = await startServer(t, MODEL, { storePath: newDatabasePath() });
  const { durable } = server.responses;
  const { id: previous_response_id } = await server.create({ input: "Hi" });
  const { readEvents } = durable.record;
  const read: string[] = [];
  durable.record.readEvents = async (run, after, limit) => {
    read.push(run);
    return await readEvents.call(durable.record, run, after, limit);
  };
  await server.create({ input: "And now?", previous_response_id });
  assert.ok(!read.includes(toRunId(previous_response_id)), read.join(" "));
  const [, { messages }] = server.upstream.requests.map(({ body }) => body) as never as [
    unknown,
    { messages: { content: unknown }[] },
  ];
  assert.deepEqual(
    messages.map(({ content }) => content),
    ["Hi", "Foxes are kind.", "And now?"],
  );
});

it("asks for a plain answer in one piece, and for one that is watched as a stream", async (t) => {
  const server = await startServer(t, MODEL, { storePath: newDatabasePath() });
  await server.create({ input: "Hi" });
  await server.stream({ input: "Hi" });
  const asked = server.upstream.requests.map(({ body }) => (body as { stream?: boolean }).stream);
  assert.deepEqual(asked, [false, true]);
});

function idOf([first]: readonly object[]): string {
  return (first as { response: { id: string } }).response.id;
}
