/**
 * Messages clients that ask for thinking without its text, with a model of Anthropic's: they get blocks without text,
 * and the model gets its blocks back as it wrote them.
 */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { reply, script, startMessagesUpstream, type Upstream } from "../../src/testing/index.ts";
import { assemble, framesIn } from "../responses/messages/read-stream.ts";
import { ask, type Fields } from "./messages-fixture.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

const USER = { role: "user", content: "Hi" };

interface World {
  readonly server: TestServer;
  readonly upstream: Upstream;
}

async function start(t: TestContext, model: string): Promise<World> {
  const engine = script(reply.reasoning("I wonder.", reply.text("Yes.")), reply.text("Again."));
  const upstream = await startMessagesUpstream({ engine });
  t.after(() => upstream.close());
  const usual = { model, provider: "anthropic", url: upstream.url, api_key_name: "TEST_KEY" };
  const setup = { settings: { models: { named: [], usual } }, env: { TEST_KEY: "key" } };
  return { upstream, server: await startServer(t, script(), setup) };
}

const lastBody = ({ upstream }: World): Fields => upstream.requests.at(-1)?.body as Fields;

/** How each model is asked. The older one has thinking by a budget, and no word for its display. */
const ROWS = [
  {
    model: "anthropic/claude-opus-4-6",
    thinking: { type: "adaptive" },
    sent: { type: "adaptive", display: "omitted" },
  },
  {
    model: "anthropic/claude-sonnet-4-5",
    thinking: { type: "enabled", budget_tokens: 2048 },
    sent: { type: "enabled", budget_tokens: 1024 },
  },
];

for (const { model, thinking, sent } of ROWS) {
  for (const stream of [false, true]) {
    describe(`${model}, ${stream ? "streamed" : "whole"}, with \`display: "omitted"\``, () => {
      it("shows a block without its text, and gets the block back whole", async (t) => {
        const world = await start(t, model);
        const name = model.replace("anthropic/", "");
        const asked = {
          model: name,
          max_tokens: 8000,
          thinking: { ...thinking, display: "omitted" },
          stream,
        };
        const first = await ask(world.server, { ...asked, messages: [USER] });
        assert.equal(first.status, 200, first.text);
        assert.deepEqual(lastBody(world)["thinking"], sent);
        assert.doesNotMatch(first.text, /I wonder/);
        const answer = stream ? assemble(framesIn(first.text)) : first.body;
        const { content } = answer as unknown as { content: Fields[] };
        assert.deepEqual(
          content.map(({ type }) => type),
          ["thinking", "text"],
        );
        assert.equal(content[0]?.["thinking"], "");
        assert.ok(content[0]?.["signature"]);

        const messages = [USER, { role: "assistant", content }, USER];
        const second = await ask(world.server, { ...asked, messages });
        assert.equal(second.status, 200, second.text);
        const turns = lastBody(world)["messages"] as { role: string; content: Fields[] }[];
        const back = turns.find(({ role }) => role === "assistant")?.content[0];
        assert.equal(back?.["type"], "thinking");
        assert.equal(back?.["thinking"], "I wonder.");
        assert.doesNotMatch(String(back?.["signature"]), /^offshoot/);
      });
    });
  }
}
