import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { openKept } from "../../src/store/open-kept.ts";
import { newDatabasePath } from "./database-path.ts";
import { newRun } from "./store-contract.ts";

const ENTRY = {
  at_ms: 1,
  tenant: "t",
  key_id: null,
  action: "a",
  target: null,
  status: 200,
  address: null,
};

/** Writes something of each part. */
async function fill(address: string | undefined): Promise<void> {
  const kept = await openKept(address);
  await (await kept.runs()).createRun(newRun("run_1"));
  await (await kept.spending()).take("k", { requests: 1 }, {}, 0);
  const place = { tenant: "t", store: "vs", file: "f" };
  await (await kept.chunks()).put(place, 0, [{ text: "words", embedding: null }]);
  (await kept.audit()).write(ENTRY);
  assert.equal(await (await kept.shelf()).countBytes("t"), address === undefined ? 0 : 5);
  await kept.close();
}

async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("what is kept", () => {
  const path = newDatabasePath();
  const addresses = { path, "sqlite:": `sqlite:${path}`, "file:": pathToFileURL(path).href };
  for (const [form, address] of Object.entries(addresses)) {
    it(`is completely in the file that ${form} names`, async () => {
      if (form === "path") await fill(address);
      const kept = await openKept(address);
      assert.equal((await (await kept.runs()).getRun("run_1"))?.id, "run_1");
      assert.equal((await (await kept.spending()).read("k", 0)).total.requests, 1);
      assert.equal((await (await kept.audit()).list({ limit: 9 })).length, 1);
      const place = { tenant: "t", store: "vs" };
      assert.equal((await (await kept.chunks()).countWords(place, [])).total, 1);
      assert.equal(await kept.runs(), await kept.runs());
      await kept.close();
      await kept.close();
      assert.equal((await kept.maintenance.check()).runs, 1);
    });
  }

  it("opens and creates nothing before a part is asked for", async () => {
    const missing = newDatabasePath();
    const kept = await openKept(missing);
    assert.equal(await kept.maintenance.exists(), false);
    await kept.close();
    assert.equal(existsSync(missing), false);
  });

  for (const address of [undefined, "memory:"]) {
    it(`is in memory for ${address}, each time a new one`, async () => {
      const kept = await openKept(address);
      await (await kept.runs()).createRun(newRun("run_1"));
      const other = await openKept(address);
      assert.equal(await (await other.runs()).getRun("run_1"), undefined);
      await assert.rejects(kept.maintenance.check(), { code: "invalid_request" });
      await kept.close();
      await other.close();
    });
  }

  it("reports at once that a database does not answer, without its password", async () => {
    // Nothing listens on this port: it is closed again before it is used.
    const address = `postgres://me:secret@127.0.0.1:${await findClosedPort()}/db`;
    const kept = await openKept(address);
    await assert.rejects(kept.runs(), (thrown: Error & { code?: string }) => {
      assert.equal(thrown.code, "store_busy");
      assert.match(
        thrown.message,
        /^The store `postgres:\/\/127\.0\.0\.1:\d+\/db` does not answer \(/,
      );
      return !thrown.message.includes("secret");
    });
    await kept.close();
  });

  const wrong: Readonly<Record<string, RegExp>> = {
    "postgres://me:secret@ho st/db":
      /^The address of the store is not `postgres:\/\/USER@HOST:PORT\/DATABASE`/,
    "redis://me:secret@host": /^`redis:` names no store\. Give the path of a file/,
    "file://host/x": /names no file of this machine/,
  };
  for (const [address, message] of Object.entries(wrong)) {
    it(`refuses ${address.split("@")[0]}, without showing its password`, async () => {
      await assert.rejects(openKept(address), (thrown: Error & { code?: string }) => {
        assert.equal(thrown.code, "invalid_request");
        assert.match(thrown.message, message);
        return !thrown.message.includes("secret");
      });
    });
  }
});
