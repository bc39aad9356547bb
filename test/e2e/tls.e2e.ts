/**
 * The built command over HTTPS: the server is trusted by the variable that names its authority, and refused
 * without it.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createPlace } from "./command.ts";

const FIXTURES = new URL("../../../test/providers/fixtures/", import.meta.url);
const ANSWER = {
  id: "c1",
  choices: [{ index: 0, delta: { content: "Sealed." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
};

async function startServer(): Promise<AsyncDisposable & { url: string }> {
  const key = readFileSync(new URL("server-key.pem", FIXTURES));
  const cert = readFileSync(new URL("server.pem", FIXTURES));
  const server = createServer({ key, cert }, (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(ANSWER)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

describe("HTTPS", () => {
  const run = async (url: string, env: Record<string, string>) => {
    await using place = await createPlace();
    return await place.run(
      ["run", "-q", "-m", "custom/x", "--provider", "openai-chat", "--url", url, "Hi"],
      { env },
    );
  };

  for (const variable of ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"]) {
    it(`trusts the authority that ${variable} names`, async () => {
      await using server = await startServer();
      const ended = await run(server.url, {
        [variable]: fileURLToPath(new URL("ca.pem", FIXTURES)),
      });
      assert.deepEqual([ended.stderr, ended.stdout, ended.code], ["", "Sealed.\n", 0]);
    });
  }

  it("refuses an unknown authority, in one line", async () => {
    await using server = await startServer();
    const ended = await run(server.url, {});
    assert.match(
      ended.stderr,
      /^offshoot: The certificate of `localhost:\d+` is not trusted [^\n]*\n$/,
    );
    assert.deepEqual([ended.stdout, ended.code], ["", 1]);
  });
});
