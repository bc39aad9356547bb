/** The cost of answers that do not end. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { toRunId } from "../../../src/responses/fold/response-object.ts";
import { type Reply, reply, respond, script } from "../../../src/testing/index.ts";
import {
  createGuardBench,
  type GuardBench,
  openFileBench,
  startGuarded,
  toBearer,
} from "./guard-fixture.ts";

const LIMITS = { tokens_per_day: 100_000 };
/** 90 characters, which are about 30 tokens. */
const WORDS = "one two three ".repeat(7).slice(0, 90);

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function readUsed({ spending, clock }: GuardBench, keyId: string): Promise<number> {
  return (await spending.read(keyId, clock.now())).day.tokens;
}

/** Asks for a stream, and leaves when its last words have come. */
function leaveStream(url: string, token: string, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers: toBearer(token), agent: false };
    const request: ClientRequest = sendRequest(`${url}/v1/responses`, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        const said = [...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join("");
        if (!said.includes(WORDS)) return;
        request.destroy();
        resolve();
      });
    });
    request.on("error", reject);
    request.end(JSON.stringify({ ...body, stream: true }));
  });
}

/** The estimate of a short question and 90 characters. */
function assertAbout(used: number): void {
  assert.ok(used >= 30 && used < 100, `${used} tokens`);
}

describe("an answer that is interrupted", () => {
  const ways: readonly [string, object, object][] = [
    ["stored", LIMITS, { store: true }],
    ["not stored", LIMITS, { store: false }],
    ["without a run", { tokens_per_minute: 100_000 }, { store: false }],
  ];
  // A stored response would continue without its client.
  for (const [name, limits, asked] of ways.slice(1)) {
    it(`costs what it used when its client leaves: ${name}`, async (t) => {
      const bench = createGuardBench();
      const server = await startGuarded(
        t,
        bench,
        respond(() => reply.silence(WORDS)),
      );
      const { token, key } = await bench.makeKey({ limits });
      let before = 0;
      for (let count = 0; count < 3; count++) {
        await leaveStream(server.url, token, { input: "Hi", ...asked });
        while ((await readUsed(bench, key.id)) === before) await turn();
        const used = await readUsed(bench, key.id);
        assertAbout(used - before);
        before = used;
      }
      assert.deepEqual(await bench.spending.readHolds(key.id), []);
    });
  }

  for (const [name, limits, asked] of ways) {
    it(`costs what it used when the model fails: ${name}`, async (t) => {
      const bench = createGuardBench();
      const server = await startGuarded(
        t,
        bench,
        respond(() => reply.failure("It broke.", { text: WORDS })),
      );
      const { token, key } = await bench.makeKey({ limits });
      await server.send({ token, body: { input: "Hi", stream: true, ...asked } });
      assertAbout(await readUsed(bench, key.id));
    });

    it(`costs nothing when the model refuses the question: ${name}`, async (t) => {
      const bench = createGuardBench();
      const server = await startGuarded(
        t,
        bench,
        respond(() => reply.status(400)),
      );
      const { token, key } = await bench.makeKey({ limits });
      await server.send({ token, body: { input: "Hi", stream: true, ...asked } });
      assert.equal(await readUsed(bench, key.id), 0);
    });
  }

  it("costs its question when its client leaves before the first word", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.silence()),
    );
    const { token, key } = await bench.makeKey({ limits: LIMITS });
    const made = await server.send({ token, body: { input: "Hi", background: true } });
    const { id } = JSON.parse(made.text) as { id: string };
    while (server.upstream.requests.length < 1) await turn();
    await server.send({ token, path: `/v1/responses/${id}/cancel` });
    const used = await readUsed(bench, key.id);
    assert.ok(used > 0 && used < 70, `${used} tokens`);
  });

  it("costs what the vendor has counted, where it said so", async (t) => {
    const bench = createGuardBench();
    const chunk = (fields: object): string =>
      JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", ...fields });
    const raw = reply.raw([
      chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "Hello" } }] }),
      chunk({ choices: [], usage: { prompt_tokens: 700, completion_tokens: 7 } }),
      chunk({ error: { message: "It broke." } }),
    ]);
    const server = await startGuarded(
      t,
      bench,
      respond(() => raw),
    );
    const { token, key } = await bench.makeKey({ limits: LIMITS });
    await server.send({ token, body: { input: "Hi", stream: true } });
    assert.equal(await readUsed(bench, key.id), 707);
  });

  it("is paid for by the process that continues it, besides its own calls", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "offshoot-interrupted-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const storePath = join(folder, "runs.db");
    const bench = await openFileBench(t, storePath);
    const { token, key } = await bench.makeKey({ limits: LIMITS });
    const answers: Reply[] = [reply.silence(WORDS)];
    const usage = { input: 100, output: 10 };
    const said = respond(() => answers.shift() ?? reply.text("Done.", { usage }));
    const first = await startGuarded(t, bench, said, { storePath });
    const made = await first.send({ token, body: { input: "Hi", background: true } });
    const { id } = JSON.parse(made.text) as { id: string };
    const { record } = first.responses.durable;
    const hasSaid = async (): Promise<boolean> =>
      JSON.stringify(await record.readEvents(toRunId(id), -1, 1000)).includes(WORDS.slice(-6));
    while (!(await hasSaid())) await turn();
    await first.runtime.close();
    const second = await startGuarded(t, bench, script(), { storePath });
    await second.responses.start();
    await second.runtime.engine.result(toRunId(id));
    assertAbout((await readUsed(bench, key.id)) - 110);
  });
});
