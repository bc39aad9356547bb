import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { openFetch } from "../../../../src/tools/mcp/session/open-fetch.ts";
import { PATIENCE_MS } from "../../../patience.ts";
import { createTestHub } from "../hub-parts.ts";

const FIXTURES = new URL("../../../../../test/providers/fixtures/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), "utf8");

async function startSealed(): Promise<{ url: string } & AsyncDisposable> {
  const pair = { key: read("server-key.pem"), cert: read("server.pem") };
  const server = createServer(pair, (_, response) => response.writeHead(401).end("Sealed."));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

describe("the network of MCP servers", () => {
  it("trusts the given authorities only", async () => {
    await using server = await startSealed();
    const trusting = openFetch({}, { longestMs: PATIENCE_MS, ca: [read("ca.pem")] });
    assert.equal(await (await trusting.fetch(server.url)).text(), "Sealed.");
    await trusting.close();
    const plain = openFetch({}, { longestMs: PATIENCE_MS, ca: undefined });
    await assert.rejects(plain.fetch(server.url), /fetch failed/);
    await plain.close();
  });

  it("is opened with the authorities of the hub", async () => {
    await using server = await startSealed();
    const trusted = (): string[] => [read("ca.pem")];
    await using test = createTestHub({ sealed: { url: server.url } }, { trusted });
    assert.deepEqual(await test.hub.tools(), []);
    assert.match(test.problems.join(), /`sealed` asks for a login/);
  });
});
