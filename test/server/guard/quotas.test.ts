import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { revokeKey } from "../../../src/server/guard/keys.ts";
import { reply, respond } from "../../../src/testing/index.ts";
import { IS_REPLICATED } from "../../replicated.ts";
import { createGuardBench, errorOf, type GuardedServer, startGuarded } from "./guard-fixture.ts";

describe("what a tenant may keep", () => {
  it("is the least that its keys say, else what the server says", async () => {
    const bench = createGuardBench({ storageBytes: 5000 });
    const { guard, clock } = bench;
    const later = (): Promise<void> => clock.advance(10_000);
    assert.equal(await guard.quotaOf("a"), 5000);
    await bench.makeKey({ tenant: "a" });
    await bench.makeKey({ tenant: "a", limits: { storage_bytes: 9000 } });
    const { key } = await bench.makeKey({ tenant: "a", limits: { storage_bytes: 7000 } });
    assert.equal(await guard.quotaOf("a"), 5000, "known for some seconds");
    await later();
    assert.equal(await guard.quotaOf("a"), 7000);
    assert.equal(await guard.quotaOf("b"), 5000);
    await revokeKey(bench, key.id);
    await later();
    assert.equal(await guard.quotaOf("a"), 9000);
    guard.configure({ ...bench.settings, storageBytes: undefined });
    assert.equal(await guard.quotaOf("b"), undefined);
  });

  const QUOTA = 20_000;
  const upload = (server: GuardedServer, token: string, bytes: number) =>
    server.send({
      path: "/v1/files",
      token,
      headers: { "content-type": "multipart/form-data; boundary=x" },
      body: [
        "--x",
        'content-disposition: form-data; name="purpose"',
        "",
        "user_data",
        "--x",
        'content-disposition: form-data; name="file"; filename="a.txt"',
        "",
        "a".repeat(bytes),
        "--x--",
        "",
      ].join("\r\n"),
    });

  for (const place of ["memory", "SQLite"]) {
    it(`is refused on every way beyond it, in ${place}`, async (t) => {
      const bench = createGuardBench();
      const folder = mkdtempSync(join(tmpdir(), "offshoot-quota-"));
      t.after(() => rmSync(folder, { recursive: true }));
      const storePath = place === "memory" ? undefined : join(folder, "runs.db");
      const model = respond(() => reply.text("Yes."));
      const server = await startGuarded(t, bench, model, { storePath });
      const limits = { storage_bytes: QUOTA };
      const { token } = await bench.makeKey({ tenant: "a", limits });
      const { token: other } = await bench.makeKey({ tenant: "b" });
      const kept = await upload(server, token, QUOTA - 1000);
      assert.equal(kept.status, 200, kept.text);
      const long = "many words ".repeat(200);
      const ways: readonly [string, object][] = [
        ["/v1/responses", { input: long }],
        ["/v1/conversations", { items: [{ type: "message", role: "user", content: long }] }],
      ];
      assert.equal(errorOf(await upload(server, token, 2000)).code, "too_large");
      for (const [path, body] of ways) {
        const refused = await server.send({ path, token, body });
        assert.equal(refused.status, 413, refused.text);
        assert.match(
          errorOf(refused).message,
          /^This key's tenant may store 20000 bytes, and stores/,
        );
        assert.equal((await server.send({ path, token: other, body })).status, 200);
      }
      const unstored = { input: long, store: false };
      assert.equal((await server.send({ token, body: unstored })).status, 200);
      const { id } = JSON.parse(kept.text) as { id: string };
      await server.send({ method: "DELETE", path: `/v1/files/${id}`, token });
      for (const [path, body] of ways) {
        assert.equal((await server.send({ path, token, body })).status, 200);
      }
      const used = await server.responses.shelf.countBytes("a");
      // In a file and in a database the log of the response counts, too.
      const isMemory = place === "memory" && !IS_REPLICATED;
      const most = isMemory ? 3 * long.length + 2000 : QUOTA;
      assert.ok(used > 2 * long.length && used < most, String(used));
    });
  }

  it("is refused for vector stores, containers and their files when it is full", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Yes.")),
    );
    const { token } = await bench.makeKey({ limits: { storage_bytes: 700 } });
    const make = async (path: string, body: object): Promise<string> => {
      const made = await server.send({ path, token, body });
      assert.equal(made.status, 200, made.text);
      return (JSON.parse(made.text) as { id: string }).id;
    };
    const conversation = await make("/v1/conversations", {});
    const filled = await upload(server, token, 300);
    assert.equal(filled.status, 200, filled.text);
    const { shelf } = server.responses;
    const tenant = "default";
    while ((await shelf.countBytes(tenant)) < 700) {
      const marker = { tenant, kind: "item", parent: null, body: {}, expires_at_ms: null };
      await shelf.put({ ...marker, id: String(await shelf.countBytes(tenant)), created_at_ms: 0 });
    }
    const item = { type: "message", role: "user", content: "Hi" };
    const ways: readonly [string, object][] = [
      ["/v1/vector_stores", { name: "a" }],
      ["/v1/containers", { name: "a" }],
      [`/v1/conversations/${conversation}/items`, { items: [item] }],
    ];
    for (const [path, body] of ways) {
      assert.equal((await server.send({ path, token, body })).status, 413, path);
    }
  });
});
