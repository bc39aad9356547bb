/** `reasoning.encrypted_content` on models whose vendors seal nothing, and on unknown servers. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import {
  type Reply,
  reply,
  respond,
  script,
  startResponsesUpstream,
} from "../../src/testing/index.ts";
import { startProviderServer } from "../conformance/provider-servers.ts";
import { createServers, lastOf, modelAt } from "./server-complaints-fixture.ts";
import { startServer } from "./server-fixture.ts";

const include = ["reasoning.encrypted_content"];
const THOUGHT = "zebra crossing";
const answers = (): Reply[] => [
  reply.reasoning(THOUGHT, reply.text("One.")),
  reply.reasoning("Hm.", reply.text("Two.")),
];

function sealIn({ output, offshoot }: Pick<EmittedResponse, "output" | "offshoot">): string {
  const thought = output.find(({ type }) => type === "reasoning");
  assert.ok(thought?.type === "reasoning" && thought.encrypted_content, JSON.stringify(output));
  assert.equal(offshoot, undefined);
  return thought.encrypted_content;
}

/** As from a client that keeps only what it needs. */
const toInput = (encrypted_content: string, id = "rs_1"): object[] => [
  { role: "user", content: "First?" },
  { type: "reasoning", id, summary: [], encrypted_content },
  { role: "assistant", content: "One." },
  { role: "user", content: "Then?" },
];

describe("thoughts of a model that seals nothing", () => {
  const ask = createServers();

  for (const name of ["chat", "cohere", "ollama", "llamacpp"] as const) {
    it(`are sealed here for those who ask (${name})`, async () => {
      for (const more of [{ store: false }, { store: true }]) {
        const { server } = await ask(name, ...answers());
        const asked = { input: "First?", include, ...more };
        const seal = sealIn(await server.create(asked));
        assert.ok(!Buffer.from(seal, "base64url").includes(THOUGHT) && !seal.includes(THOUGHT));
        sealIn(lastOf(await server.stream(asked)));
      }
    });

    it(`are not sealed for others (${name})`, async () => {
      const { server } = await ask(name, ...answers());
      const made = await server.create({ input: "First?", store: false });
      assert.doesNotMatch(JSON.stringify(made), /encrypted_content":"/);
    });
  }

  for (const name of ["chat", "cohere", "ollama", "llamacpp"] as const) {
    it(`reach the model again, from the seal alone (${name})`, async () => {
      for (const more of [
        { store: false },
        { store: false, include },
        { store: true },
        { store: false, tools: [{ type: "custom", name: "own" }] },
      ]) {
        const { server, sent } = await ask(name, ...answers());
        const first = await server.create({ input: "First?", include, store: false });
        await server.create({ input: toInput(sealIn(first)), ...more });
        assert.ok(sent().includes(THOUGHT), sent());
        assert.ok(!sent().includes(sealIn(first)));
      }
    });

    it(`reach it in a stored chain (${name})`, async () => {
      const { server, sent } = await ask(name, ...answers());
      const first = await server.create({ input: "First?", include });
      await server.create({ input: "Then?", previous_response_id: first.id });
      assert.ok(sent().includes(THOUGHT), sent());
    });
  }

  it("open only for their tenant, and are else left out", async (t) => {
    const { server } = await ask("ollama", ...answers());
    const seal = sealIn(await server.create({ input: "First?", include, store: false }));
    for (const setup of [
      { caller: { tenant: "other" } },
      { settings: { sealKey: new Uint8Array(32).fill(7) } },
    ]) {
      for (const name of ["ollama", "responses"] as const) {
        const other = await startProviderServer(t, name, script(reply.text("Two.")), setup);
        const made = await other.server.create({ input: toInput(seal), store: false });
        assert.equal(made.output_text, "Two.");
        const sent = other.upstream?.requests.at(-1)?.text ?? "";
        assert.ok(!sent.includes(THOUGHT) && !sent.includes(seal), sent);
      }
    }
  });
});

describe("a custom server of the Responses API", () => {
  it("is asked for sealed thoughts where the client asks, and what it gives is taken back", async (t) => {
    const upstream = await startResponsesUpstream({
      engine: respond(() => reply.reasoning("Hm.", reply.text("One."))),
    });
    t.after(() => upstream.close());
    const { settings = {} } = modelAt(upstream, "openai-responses");
    const server = await startServer(t, script(), { settings });
    for (const tools of [[], [{ type: "custom", name: "own" }]]) {
      const asked = { input: "First?", store: false, tools };
      const made = await server.create({ ...asked, include });
      const seal = sealIn(made);
      const sent = upstream.requests.at(-1)?.body as { include?: unknown };
      assert.deepEqual(sent.include, include);
      await server.create({ ...asked, input: toInput(seal, made.output[0]?.id ?? "") });
      const next = upstream.requests.at(-1) ?? assert.fail();
      assert.ok(next.text.includes(seal), next.text);
      assert.equal((next.body as { include?: unknown }).include, undefined);
    }
  });
});
