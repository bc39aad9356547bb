/** What tests of responses that are written down when they are answered share: models, waits, and the record. */

import assert from "node:assert/strict";
import type { Json } from "../../src/base/json.ts";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { OUTPUT_KIND } from "../../src/responses/kept/kept-output.ts";
import { RESPONSE_KIND } from "../../src/responses/kept/kept-response.ts";
import { openKept } from "../../src/store/open-kept.ts";
import {
  createEmbeddedEngine,
  createManualClock,
  type ScriptEngine,
} from "../../src/testing/index.ts";
import { until } from "../patience.ts";
import { ANYBODY, type TestServer } from "./server-fixture.ts";

/** A clock that only a test advances: no answer takes long by itself. */
export function stillClock(): ReturnType<typeof createManualClock> {
  return createManualClock(Date.parse("2026-01-02T03:04:05Z"));
}

/** A model that answers when it is let go. */
export function createHeld(): { readonly engine: ScriptEngine; release(): void } {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const embedded = createEmbeddedEngine();
  return {
    async *engine(request, call) {
      await held;
      yield* embedded(request, call);
    },
    release: () => release(),
  };
}

export async function retrieved(server: TestServer, id: string): Promise<Json> {
  return withoutNames((await server.ask("GET", `/v1/responses/${id}`)).body);
}

export async function waitForStatus(server: TestServer, id: string, status: string): Promise<void> {
  await until(async () => {
    const { body } = await server.ask("GET", `/v1/responses/${id}`);
    return (body as EmittedResponse).status === status ? true : undefined;
  }, `a response that is ${status}`);
}

export async function onlyRun(storePath: string): Promise<string> {
  const kept = await openKept(storePath);
  const runs = await (await kept.index()).listRuns({ tenant: ANYBODY.tenant, limit: 5 });
  await kept.close();
  assert.equal(runs.length, 1);
  return runs[0]?.id ?? "";
}

/** All that the record says of a run, without its names. */
export async function tell(
  { responses }: TestServer,
  runId: string,
  storePath: string,
): Promise<Json> {
  const { durable, shelf } = responses;
  const kept = await openKept(storePath);
  try {
    const index = await kept.index();
    const record = await kept.record();
    const id = runId.replace(/^run/, "resp");
    const tenant = ANYBODY.tenant;
    return withoutNames({
      run: await record.getRun(runId),
      events: await durable.record.readEvents(runId, -1, 1000),
      row: await index.getRow(runId),
      spans: await index.listSpans(runId),
      usage: await index.sumUsage({ roots: [runId], by: "model", daily: true, limit: 10 } as never),
      response: await shelf.get({ tenant, kind: RESPONSE_KIND, id }),
      output: await shelf.get({ tenant, kind: OUTPUT_KIND, id }),
    });
  } finally {
    await kept.close();
  }
}

/** Ids, ports, folders and who wrote it are new each time; the rest is the same. */
export function withoutNames(value: unknown): Json {
  const text = JSON.stringify(value)
    .replace(/\b([a-z]{2,8}[_-])[0-9a-zA-Z]{16,}/g, "$1")
    .replace(/127\.0\.0\.1:\d+/g, "upstream")
    .replace(/"(root|folder)":"[^"]*"/g, '"$1":""');
  const isOwn = (key: string): boolean => ["owner", "epoch", "position"].includes(key);
  return JSON.parse(text, (key, one) => (isOwn(key) ? undefined : one)) as Json;
}
