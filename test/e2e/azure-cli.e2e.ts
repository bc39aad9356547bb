/** Azure with the login of a user: the built command, and an `az` that is on the PATH. */

import assert from "node:assert/strict";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { programLack, unless } from "../needs.ts";
import { createPlace, type Place } from "./command.ts";

const TOKEN = "eyJ0eXAiOiJKV1Qi.eyJhYmNkZWZnaCI6MX0.c2lnbmF0dXJl";
const KEY = "key-of-somebody-else-0123456789";

/** An `az` that records its arguments and prints the given output. */
async function installAz(place: Place, body: string): Promise<string> {
  const folder = join(place.home, "bin");
  await mkdir(folder);
  const told = join(place.home, "told");
  await writeFile(join(folder, "az"), `#!/bin/sh\necho "$@" >> ${told}\nenv >> ${told}\n${body}\n`);
  await chmod(join(folder, "az"), 0o755);
  return folder;
}

async function startAzure() {
  const asked: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    request.resume();
    asked.push({ path: request.url ?? "", headers: request.headers });
    const isRight = request.headers.authorization === `Bearer ${TOKEN}`;
    const choice = { index: 0, delta: { content: "Hello." }, finish_reason: "stop" };
    response.writeHead(isRight ? 200 : 401, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify({ id: "c", model: "m", choices: [choice] })}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}?api-version=2024-10-21`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

// A shell script stands in for `az`.
const held = unless(programLack("sh"));

describe("azure with the login of a user", () => {
  const envFor = (folder: string, endpoint: string): Record<string, string> => ({
    PATH: `${folder}:/usr/bin:/bin`,
    AZURE_OPENAI_ENDPOINT: endpoint,
    AZURE_TOKEN_CREDENTIALS: "dev",
    OPENAI_API_KEY: KEY,
  });

  it(...held("asks with the token that `az` gives, and tells `az` no key"), async () => {
    await using azure = await startAzure();
    await using place = await createPlace();
    const said = JSON.stringify({ accessToken: TOKEN, expires_on: 4_000_000_000 });
    const folder = await installAz(place, `echo '${said}'`);
    const env = envFor(folder, azure.endpoint);
    const ended = await place.run(["run", "-m", "azure/mine", "Hi"], { env });
    assert.deepEqual([ended.code, ended.stdout], [0, "Hello.\n"], ended.stderr);
    assert.match(azure.asked[0]?.path ?? "", /^\/openai\/deployments\/mine\/chat\/completions\?/);
    const told = await readFile(join(place.home, "told"), "utf8");
    assert.match(
      told,
      /^account get-access-token --output json --resource https:\/\/cognitiveservices\.azure\.com$/m,
    );
    assert.ok(!told.includes(KEY));
  });

  it(...held("says in one line what to do if no user is logged in"), async () => {
    await using azure = await startAzure();
    await using place = await createPlace();
    const folder = await installAz(place, "echo 'Please run az login' >&2; exit 1");
    const env = envFor(folder, azure.endpoint);
    const ended = await place.run(["run", "-m", "azure/mine", "Hi"], { env });
    assert.notEqual(ended.code, 0);
    assert.match(ended.stderr, /gives no token: maybe no user is logged in\. Run `az login`/);
    assert.equal(azure.asked.length, 0);
  });
});
