/** A response that another process continues has the conversation and the tools that it had. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { z } from "zod";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, type Script, script } from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { untilTrue } from "../patience.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

const WORDS = "Hello";
const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };
const caller = { catalogue: ["look"] };

const look = (description: string): Tool =>
  defineTool({
    name: "look",
    description,
    parameters: z.object({}),
    readOnly: true,
    run: async () => "seen",
  });

interface Interrupted {
  readonly first: TestServer;
  readonly id: string;
  /** Continues in another process, and returns the response when it has ended. */
  goOn(tools: readonly Tool[]): Promise<{ status: string; error: { message: string } | null }>;
}

/** A background response whose process stops while its model speaks. */
async function interrupt(
  t: TestContext,
  asked: object | ((server: TestServer) => Promise<object>),
): Promise<Interrupted> {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-takeover-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const storePath = join(folder, "runs.db");
  const model = script(reply.silence(WORDS), reply.text("Done."));
  const first = await startServer(t, model, { storePath, caller, tools: [look("as it was")] });
  const request = typeof asked === "function" ? await asked(first) : asked;
  const { id } = await first.create({ input: "Look", background: true, ...request });
  const { record } = first.responses.durable;
  await untilTrue(async () => {
    const log = JSON.stringify(await record.readEvents(toRunId(id), -1, 1000));
    return log.includes(WORDS);
  }, "the model speaks");
  return {
    first,
    id,
    async goOn(tools) {
      await first.runtime.close();
      const second = await startServer(t, script(), { storePath, caller, tools });
      await second.responses.start();
      await second.runtime.engine.result(toRunId(id));
      const { body } = await second.ask("GET", `/v1/responses/${id}`);
      return body as { status: string; error: { message: string } | null };
    },
  };
}

/**
 * A background response that waits in the first process, after another one, is begun by a second process, and
 * interrupted there too. The third process completes it. `meanwhile` is called while the response waits.
 */
async function interruptQueued(
  t: TestContext,
  asked: (server: TestServer) => Promise<object>,
  meanwhile: (first: TestServer) => Promise<void> = async () => {},
): Promise<{ readonly sent: readonly ChatBody[]; readonly status: string }> {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-takeover-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const storePath = join(folder, "runs.db");
  const settings = { maxBackground: 1 };
  const model = script(
    reply.silence("First"),
    reply.text("Done."),
    reply.silence("Second"),
    reply.text("Done."),
  );
  const start = (engine: Script, words: string): Promise<TestServer> =>
    startServer(t, engine, { storePath, caller, settings, tools: [look(words)] });
  const first = await start(model, "as it waited");
  const request = await asked(first);
  await first.create({ input: "Hi", background: true });
  await waitForWords(first, "First");
  const { id } = await first.create({ input: "Look", background: true, ...request });
  const { durable } = first.responses;
  await untilTrue(async () => (await durable.countWaiting("background")) === 1, "it waits");
  await meanwhile(first);
  await first.runtime.close();
  const second = await start(script(), "as it began");
  await second.responses.start();
  await waitForWords(second, "Second");
  await second.runtime.close();
  const third = await start(script(), "as it has become");
  await third.responses.start();
  await third.runtime.engine.result(toRunId(id));
  const { body } = await third.ask("GET", `/v1/responses/${id}`);
  const sent = first.upstream.requests.map((one) => one.body as unknown as ChatBody);
  return { sent: sent.slice(2), status: (body as { status: string }).status };
}

interface ChatBody {
  readonly messages: readonly unknown[];
  readonly tools?: readonly { readonly function: { readonly description: string } }[];
}

/** Resolves when the model has said the words in any run. */
async function waitForWords({ responses }: TestServer, words: string): Promise<void> {
  const { record } = responses.durable;
  await untilTrue(async () => {
    const runs = await record.listRuns({ limit: 10 });
    const logs = await Promise.all(runs.map(({ id }) => record.readEvents(id, -1, 1000)));
    return JSON.stringify(logs).includes(words);
  }, `the model says: ${words}`);
}

/** A conversation with two messages, as a request names it. */
async function createConversation(server: TestServer): Promise<{ conversation: string }> {
  const item = (content: string) => ({ type: "message", role: "user", content });
  const made = await server.ask("POST", "/v1/conversations", { items: [item("one"), item("two")] });
  return { conversation: (made.body as { id: string }).id };
}

describe("a response that another process continues", () => {
  it("is offered its server's tools as they were, and no others", async (t) => {
    const { first, goOn } = await interrupt(t, { tools: [OWN] });
    const { status } = await goOn([look("as it has become")]);
    assert.equal(status, "completed");
    const offered = first.upstream.requests.map(
      ({ body }) => (body as { tools: { function: { description: string } }[] }).tools,
    );
    assert.deepEqual(offered[1], offered[0]);
    assert.match(JSON.stringify(offered[1]), /as it was/);
  });

  it("is offered the tools of the process that began it, not of one in which it only waited", async (t) => {
    const { sent, status } = await interruptQueued(t, async () => ({ tools: [OWN] }));
    assert.equal(status, "completed");
    const [begun, goneOn] = sent.map(({ tools }) => tools?.[0]?.function.description);
    assert.deepEqual([sent.length, begun, goneOn], [2, "as it began", "as it began"]);
  });

  it("continues with the conversation that it began with, if an item was deleted while it waited", async (t) => {
    let path = "";
    const { sent, status } = await interruptQueued(
      t,
      async (server) => {
        const { conversation } = await createConversation(server);
        path = `/v1/conversations/${conversation}/items`;
        return { conversation };
      },
      async (server) => {
        const listed = (await server.ask("GET", path)).body as { data: { id: string }[] };
        await server.ask("DELETE", `${path}/${listed.data[0]?.id}`);
      },
    );
    assert.equal(status, "completed");
    assert.deepEqual([sent.length, sent[0]?.messages.length], [2, 2]);
    assert.deepEqual(sent[1]?.messages, sent[0]?.messages);
  });

  it("continues with the conversation that it had", async (t) => {
    const { first, goOn } = await interrupt(t, createConversation);
    assert.equal((await goOn([look("as it was")])).status, "completed");
    const asked = first.upstream.requests.map(
      ({ body }) => (body as { messages: unknown[] }).messages,
    );
    assert.deepEqual(asked[1], asked[0]);
  });

  it("fails if something of its conversation was deleted, and sends nothing", async (t) => {
    let conversation = "";
    const { first, goOn } = await interrupt(t, async (server) => {
      const made = await createConversation(server);
      conversation = made.conversation;
      return made;
    });
    const path = `/v1/conversations/${conversation}/items`;
    const listed = (await first.ask("GET", path)).body as { data: { id: string }[] };
    await first.ask("DELETE", `${path}/${listed.data[0]?.id}`);
    const { status, error } = await goOn([look("as it was")]);
    assert.equal(status, "failed");
    assert.match(error?.message ?? "", /the conversation that it continues was changed/);
    assert.equal(first.upstream.requests.length, 1);
  });
});
