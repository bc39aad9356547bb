/** Tools that a model's vendor runs, through the built command: runs, agent files and the server. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { reply, script, startMessagesUpstream, type Upstream } from "../../src/testing/index.ts";
import { createPlace } from "./command.ts";
import { serve } from "./served.ts";

const PAGE = { url: "https://one.example.org/a", title: "One" };
const FOUND = reply.searched({ query: "colour", pages: [PAGE] }, "It is blue.");
const MODEL = "anthropic/claude-sonnet-5-5";

const AGENT = `---
name: searcher
description: Searches the web.
tools: [native:web_search]
---
Search.
`;

async function start(t: TestContext): Promise<{ upstream: Upstream; args: readonly string[] }> {
  const upstream = await startMessagesUpstream({ engine: script(FOUND) });
  t.after(() => upstream.close());
  return { upstream, args: ["-m", MODEL, "--url", upstream.url] };
}

const env = { ANTHROPIC_API_KEY: "key-1" };

describe("a vendor's own tools", () => {
  it("are used by a run that names them, and its sources are shown beside the answer", async (t) => {
    const { upstream, args } = await start(t);
    await using place = await createPlace();
    const words = ["run", ...args, "--tools", "native:web_search", "Which colour?"];
    const { code, stdout, stderr } = await place.run(words, { env });
    assert.deepEqual([code, stdout], [0, "It is blue.\n"], stderr);
    assert.match(stderr, /^web_search\(colour\)$/m);
    assert.match(stderr, /^source: One · https:\/\/one\.example\.org\/a$/m);
    assert.match(stderr, /\$0\.01/);
    assert.match(upstream.requests[0]?.text ?? "", /"type":"web_search_20250305"/);
  });

  it("are refused by name, with exit code 2 and nothing sent, if the vendor has none", async (t) => {
    const { upstream, args } = await start(t);
    await using place = await createPlace();
    const words = ["run", ...args, "--tools", "native:x_search", "Which colour?"];
    const { code, stderr } = await place.run(words, { env });
    assert.equal(code, 2);
    assert.match(stderr, /`native:x_search`: the vendor of anthropic\/claude-sonnet-5-5 does not/);
    assert.equal(upstream.requests.length, 0);
  });

  it("may be named by an agent file", async () => {
    await using place = await createPlace({ ".offshoot/agents/searcher.md": AGENT });
    await place.run(["agents", "trust", "searcher"]);
    const alone = await place.run(["agents", "check"]);
    assert.match(alone.stderr, /needs `native:web_search`, which its parent does not have/);
    const OFFSHOOT_TOOLS = "read,subagent,native:web_search";
    const { code, stdout, stderr } = await place.run(["agents", "check"], {
      env: { OFFSHOOT_TOOLS },
    });
    assert.deepEqual([code, stdout], [0, "1 agent checked.\n"], stderr);
  });

  for (const [native, spelled] of [
    ["*", /"type":"web_search_20250305"/],
    ["none", /"name":"web_search","description"/],
  ] as const) {
    it(`are used by the server as its operator configures: ${native}`, async (t) => {
      const { upstream, args } = await start(t);
      const variables = { ...env, OFFSHOOT_SERVER_NATIVE_TOOLS: native };
      await using served = await serve({ args, env: variables });
      await served.create({ input: "Which colour?", tools: [{ type: "web_search" }] });
      assert.match(upstream.requests[0]?.text ?? "", spelled);
    });
  }
});
