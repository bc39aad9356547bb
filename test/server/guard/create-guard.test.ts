import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import { SAMPLING_FIELDS } from "../../../src/providers/http/carried-fields.ts";
import { findKey, revokeKey } from "../../../src/server/guard/keys.ts";
import { untilTrue } from "../../patience.ts";
import { CATALOGUE, createGuardBench } from "./guard-fixture.ts";

const DONE = { route: "POST /v1/responses", status: 200, target: "resp_1" };

describe("the guard's keys", () => {
  it("name the tenant, and what it may use", async () => {
    const bench = createGuardBench();
    const wish = { tenant: "a", models: ["gpt-*"], catalogue: ["bash_*", "shell"] };
    const { token, key } = await bench.makeKey({ ...wish, limits: { concurrent: 3 } });
    const { caller } = await bench.admit({ token });
    assert.deepEqual(caller, {
      tenant: "a",
      keyId: key.id,
      models: ["gpt-*"],
      catalogue: ["bash_read", "bash_find"],
      kinds: ["bash_*", "shell"],
      options: SAMPLING_FIELDS,
      concurrent: 3,
      limits: NO_LIMITS,
    });
  });

  it("are reported to the request log, also if the request is refused", async () => {
    const bench = createGuardBench();
    const { token, key } = await bench.makeKey({ tenant: "a" });
    const told: string[] = [];
    const about = {
      onKey: ({ id, tenant }: { id: string; tenant: string }) => told.push(id, tenant),
    };
    await assert.rejects(bench.admit({ token, scope: "metrics", about }), { code: "forbidden" });
    assert.deepEqual(told, [key.id, "a"]);
  });

  it("may set how words are chosen, what they name beside that, all, or nothing", async () => {
    const bench = createGuardBench({ fixedToken: "operator-key-of-some-length" });
    const optionsOf = async (token: string) => (await bench.admit({ token })).caller.options;
    const cases = [
      [undefined, SAMPLING_FIELDS],
      [["provider"], [...SAMPLING_FIELDS, "provider"]],
      [[], []],
    ] as const;
    for (const [options, expected] of cases) {
      const { token } = await bench.makeKey({ options });
      assert.deepEqual(await optionsOf(token), expected);
    }
    assert.ok((await optionsOf("operator-key-of-some-length"))?.includes("*"));
  });

  it("are taken in each header that clients have for them", async () => {
    const bench = createGuardBench();
    const { token } = await bench.makeKey();
    const forms = [
      { authorization: `bearer ${token}` },
      { Authorization: `BEARER   ${token}` },
      { "api-key": token },
      { "X-API-Key": token },
      { authorization: `Bearer ${token}`, "x-api-key": token },
    ];
    for (const headers of forms) await bench.admit({ headers });
  });

  it("are refused when missing, wrong or unclear", async () => {
    const bench = createGuardBench();
    const { token } = await bench.makeKey();
    const other = await bench.makeKey();
    const shown: Record<string, string>[] = [
      {},
      { authorization: token },
      { authorization: `Basic ${token}` },
      { authorization: "Bearer " },
      { authorization: `Bearer ${token} ${token}` },
      { authorization: `Bearer ${token.slice(0, -1)}` },
      { authorization: `Bearer ${token}0` },
      { authorization: `Bearer ${token.toUpperCase()}` },
      { authorization: `Bearer ${token.slice(0, 17)}${other.token.slice(17)}` },
      { authorization: `Bearer ${"x".repeat(100_000)}` },
      { authorization: `Bearer ${token}`, "x-api-key": other.token },
      { constructor: token, cookie: `authorization=${token}` },
    ];
    for (const headers of shown) {
      await assert.rejects(bench.admit({ headers }), {
        code: "unauthorized",
        message: /`offshoot keys create NAME`|more than one key/,
      });
    }
  });

  it("end on their day", async () => {
    const bench = createGuardBench();
    const { token } = await bench.makeKey({ expiresAtMs: bench.clock.now() + 1000 });
    await bench.admit({ token });
    await bench.clock.advance(1000);
    await assert.rejects(bench.admit({ token }), { code: "unauthorized", message: /is expired/ });
  });

  it("end within seconds when another process revokes them", async () => {
    const bench = createGuardBench();
    const { token, key } = await bench.makeKey();
    await bench.admit({ token });
    await revokeKey(bench, key.id);
    await bench.clock.advance(2000);
    await assert.rejects(bench.admit({ token }), { code: "unauthorized", message: /is revoked/ });
  });

  it("a key without the scope of a route is refused", async () => {
    const bench = createGuardBench();
    const { token } = await bench.makeKey({ scopes: ["files"] });
    await bench.admit({ token, scope: "files" });
    await assert.rejects(bench.admit({ token, scope: "responses" }), {
      code: "forbidden",
      message: "This key lacks the scope `responses`.",
    });
  });

  it("say when they were used last, to the minute", async () => {
    const bench = createGuardBench();
    const { token, key } = await bench.makeKey();
    const lastUsed = async () => (await findKey(bench.shelf, key.id))?.last_used_ms;
    const firstMs = bench.clock.now();
    // No request waits for it.
    const untilUsed = (atMs: number) =>
      untilTrue(async () => (await lastUsed()) === atMs, "its use is written down");
    await bench.admit({ token });
    await untilUsed(firstMs);
    await bench.clock.advance(59_000);
    await bench.admit({ token });
    assert.equal(await lastUsed(), firstMs);
    await bench.clock.advance(1000);
    await bench.admit({ token });
    await untilUsed(firstMs + 60_000);
  });

  it("include the one of the environment, which may do everything", async () => {
    const bench = createGuardBench({ fixedToken: "any text" });
    const { caller } = await bench.admit({ headers: { "api-key": "any text" }, scope: "metrics" });
    assert.deepEqual([caller.tenant, caller.keyId], ["default", "environment"]);
    const wrong = { headers: { "api-key": "any other" } };
    await assert.rejects(bench.admit(wrong), { code: "unauthorized" });
    const empty = createGuardBench({ fixedToken: "" });
    await assert.rejects(empty.admit({ headers: { "api-key": "" } }), { code: "unauthorized" });
  });

  it("are not required where all may ask, or if the settings say so", async () => {
    const bench = createGuardBench();
    await bench.admit({ scope: null });
    await assert.rejects(bench.admit({}), { code: "unauthorized" });
    bench.guard.configure({ ...bench.settings, auth: false });
    const { caller } = await bench.admit({ token: "whatever" });
    assert.deepEqual(caller, {
      tenant: "default",
      keyId: null,
      catalogue: CATALOGUE,
      limits: NO_LIMITS,
    });
  });

  it("are checked after the host and the origin", async () => {
    const bench = createGuardBench();
    const { token } = await bench.makeKey();
    for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }]) {
      await assert.rejects(bench.admit({ token, headers }), { code: "forbidden" });
      await assert.rejects(bench.admit({ headers, scope: null }), { code: "forbidden" });
    }
  });
});

describe("the guard's log", () => {
  it("has what changes something and what is refused, and no words", async () => {
    const bench = createGuardBench();
    const { token, key } = await bench.makeKey({ tenant: "a", scopes: ["responses"] });
    (await bench.admit({ token })).done(DONE);
    await assert.rejects(bench.admit({ token, scope: "files" }));
    await assert.rejects(bench.admit({ token: `${token}0`, about: {} }));
    const entries = await bench.audit.list({ limit: 10 });
    const shown = entries.map(({ tenant, key_id, action, target, status }) => [
      ...[tenant, key_id, action, target, status],
    ]);
    assert.deepEqual(shown, [
      ["", null, "POST /v1/responses", null, 401],
      ["a", key.id, "POST /v1/responses", null, 403],
      ["a", key.id, "POST /v1/responses", "resp_1", 200],
    ]);
    const written = JSON.stringify(entries);
    for (const secret of [token.slice(17), "secret=1"]) assert.ok(!written.includes(secret));
  });

  it("has the turns of a socket, and not what only reads", async () => {
    const bench = createGuardBench();
    const { token } = await bench.makeKey();
    for (const method of ["GET", "POST"]) {
      const route = `${method} /v1/responses`;
      (await bench.admit({ token, method: "GET", about: { route } })).done({ ...DONE, route });
    }
    const entries = await bench.audit.list({ limit: 10 });
    assert.deepEqual(
      entries.map(({ action }) => action),
      ["POST /v1/responses"],
    );
  });

  it("cannot be flooded by those who have no key", async () => {
    const bench = createGuardBench();
    const { token } = await bench.makeKey({ scopes: [] });
    for (let count = 0; count < 1000; count++) await assert.rejects(bench.admit({}));
    await assert.rejects(bench.admit({ token }));
    const entries = await bench.audit.list({ limit: 2000 });
    assert.equal(entries.filter(({ key_id }) => key_id === null).length, 600);
    assert.equal(entries[0]?.status, 403);
  });
});
