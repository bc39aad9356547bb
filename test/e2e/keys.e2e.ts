/** Keys through the built command: created in one process, used and revoked by a server in another. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { untilTrue } from "../patience.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";

describe("offshoot keys", () => {
  it("creates, lists and revokes keys", async () => {
    await using place = await createPlace();
    const flags = ["--tenant", "team", "--models", "embedded*", "--requests-per-minute", "100"];
    const made = await place.run(["keys", "create", "mine", ...flags, "--expires", "30d"]);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^osk_[0-9a-z]{12}_[0-9a-f]{64}\n$/);
    const id = made.stdout.split("_")[1] ?? "";
    const { stdout } = await place.run(["keys"]);
    assert.match(
      stdout,
      new RegExp(`^${id}  mine  team  active  never used  today 0 requests, .* responses,`),
    );
    assert.match(stdout, / models=embedded\* requests-per-minute=100 expires=\d{4}-\d\d-\d\d\n$/);
    assert.equal((await place.run(["keys", "revoke", id])).code, 0);
    assert.match((await place.run(["keys", "list"])).stdout, / {2}revoked {2}/);
    const unknown = await place.run(["keys", "revoke", "nobody"]);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /There is no key `nobody`/);
  });

  it("are accepted by a running server, and refused seconds after they were revoked", async () => {
    await using place = await createPlace();
    const token = await makeKey(place, "mine");
    const serve = place.start(["serve", "--port", "0", "-m", "embedded"]);
    const url = await readUrl(serve);
    assert.equal(await ask(url, undefined), 401);
    assert.equal(await ask(url, token), 200);
    // A key that is created while the server runs is valid at once.
    const later = await makeKey(place, "later");
    assert.equal(await ask(url, later), 200);
    assert.equal((await place.run(["keys", "revoke", token.split("_")[1] ?? ""])).code, 0);
    await untilTrue(async () => (await ask(url, token)) === 401, "the refusal of a revoked key");
    assert.equal(await ask(url, later), 200);
    serve.child.kill("SIGTERM");
    await serve.ended;
  });

  it("are changed and rotated while a server runs", async () => {
    await using place = await createPlace();
    const old = await makeKey(place, "mine");
    const serve = place.start(["serve", "--port", "0", "-m", "embedded"]);
    const url = await readUrl(serve);
    assert.equal(await ask(url, old), 200);
    const updated = await place.run(["keys", "update", "mine", "--scopes", "models", "--json"]);
    assert.equal(updated.code, 0, updated.stderr);
    await untilTrue(async () => (await ask(url, old)) === 403, "the refusal of a lost scope");
    assert.equal((await place.run(["keys", "update", "mine", "--scopes", "responses"])).code, 0);
    await untilTrue(async () => (await ask(url, old)) === 200, "the scope that was given back");
    const kept = await place.run(["keys", "rotate", "mine", "--keep-old", "1h"]);
    const second = kept.stdout.trim();
    assert.equal(second.split("_")[1], old.split("_")[1], kept.stderr);
    for (const token of [old, second]) assert.equal(await ask(url, token), 200);
    const third = (await place.run(["keys", "rotate", "mine"])).stdout.trim();
    assert.equal(await ask(url, third), 200);
    for (const token of [old, second]) {
      await untilTrue(async () => (await ask(url, token)) === 401, "the end of an old secret");
    }
    serve.child.kill("SIGTERM");
    const { stderr } = await serve.ended;
    for (const token of [old, second, third]) assert.ok(!stderr.includes(token));
  });

  it("have separate costs and logs, even if nothing is stored", async () => {
    await using place = await createPlace();
    const token = await makeKey(place, "mine");
    const serve = place.start(["serve", "--port", "0", "-m", "embedded"]);
    const url = await readUrl(serve);
    assert.equal(await ask(url, token), 200);
    const chat = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "Hello" }] }),
    });
    assert.equal(chat.status, 200, await chat.text());
    serve.child.kill("SIGTERM");
    await serve.ended;
    const { stdout, stderr } = await place.run(["runs", "cost", "--by", "key", "--json"]);
    const { rows } = JSON.parse(stdout) as { rows: Record<string, unknown>[] };
    assert.equal(rows.length, 1, stderr);
    assert.deepEqual([rows[0]?.["name"], rows[0]?.["requests"]], ["mine", 2]);
    assert.equal(rows[0]?.["cost_usd"], 0, "the embedded model is free");
    assert.ok(Number(rows[0]?.["tokens"]) > 0);
    const audit = await place.run(["audit", "list", "--key", "mine", "--json"]);
    const entries = JSON.parse(audit.stdout) as { action: string; status: number }[];
    assert.deepEqual(
      entries.map(({ action, status }) => [action, status]),
      [
        ["POST /v1/chat/completions", 200],
        ["POST /v1/responses", 200],
      ],
    );
    assert.match((await place.run(["keys", "list"])).stdout, /2 requests, \d+ tokens, free/);
  });

  it("include one of the environment that needs no record", async () => {
    await using place = await createPlace();
    const env = { OFFSHOOT_SERVER_KEY: "a key of the environment" };
    const serve = place.start(["serve", "--port", "0", "-m", "embedded"], { env });
    const url = await readUrl(serve);
    assert.equal(await ask(url, env.OFFSHOOT_SERVER_KEY), 401, "a key with spaces is not a token");
    assert.equal(await ask(url, undefined, { "x-api-key": env.OFFSHOOT_SERVER_KEY }), 200);
    serve.child.kill("SIGTERM");
    const { stderr } = await serve.ended;
    assert.ok(!stderr.includes(env.OFFSHOOT_SERVER_KEY));
  });
});

async function makeKey(place: Place, name: string): Promise<string> {
  const { code, stdout, stderr } = await place.run(["keys", "create", name]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

/** The server prints its address in a line on standard error. */
async function readUrl(command: RunningCommand): Promise<string> {
  await command.waitForStderr("model embedded");
  return /http:\/\/127\.0\.0\.1:\d+/.exec(command.stderr)?.[0] ?? assert.fail(command.stderr);
}

async function ask(
  url: string,
  token: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status } = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer, ...headers },
    body: JSON.stringify({ input: "Hello", store: false }),
  });
  return status;
}
