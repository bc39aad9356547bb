/** Webhooks of the built server: sent once, although its processes are killed at any moment. */

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { untilTrue } from "../patience.ts";
import { type Receiver, SECRET, startReceiver } from "../server/webhook-receiver.ts";
import { createPlace, type Place } from "./command.ts";
import { type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

const THREE = ["--workers", "3"];
const env = { ORDERS_WEBHOOK_SECRET: SECRET };

async function configure(place: Place, { host }: Pick<Receiver, "host">): Promise<void> {
  const file = join(place.home, ".config", "offshoot", "config.yaml");
  await mkdir(dirname(file), { recursive: true });
  const row = `{ url: "http://${host}/hook", secret_name: ORDERS_WEBHOOK_SECRET }`;
  await writeFile(
    file,
    `web_private_hosts: ["${host}"]\nserver: { webhooks: { orders: ${row} } }\n`,
  );
}

/** `kill -9` of all processes of a server, like a power failure. */
async function killAll({ command }: Served): Promise<void> {
  const { pid } = command.child;
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  const workers = text.trim().split(/\s+/).map(Number);
  command.child.kill("SIGKILL");
  for (const worker of workers) if (worker > 0) process.kill(worker, "SIGKILL");
  await command.ended.catch(() => {});
}

function idsOf(receiver: Receiver): string[] {
  return receiver.heard.map(({ event }) => event.data.id);
}

describe("webhooks of three workers", { skip: process.platform !== "linux" }, () => {
  it("report each response once", async () => {
    await using receiver = await startReceiver();
    await using place = await createPlace();
    await configure(place, receiver);
    await using served = await serve({ place, args: THREE, env });
    const ids: string[] = [];
    for (let at = 0; at < 12; at++) {
      ids.push((await served.create({ input: "compute 1 + 1", background: true })).id);
    }
    await receiver.until(ids.length);
    assert.deepEqual(idsOf(receiver).sort(), [...ids].sort());
  });

  it("are sent again after a kill in the middle, under the same id", async () => {
    await using receiver = await startReceiver();
    await using place = await createPlace();
    await configure(place, receiver);
    const first = await serve({ place, args: THREE, env });
    receiver.answer = undefined;
    const { id } = await first.create({ input: "compute 1 + 1", background: true });
    await receiver.until(1);
    await killAll(first);
    receiver.answer = (response) => response.writeHead(204).end();
    await using second = await serve({ place, args: THREE, env });
    const [one, two] = await receiver.until(2);
    assert.deepEqual(idsOf(receiver), [id, id]);
    assert.equal(one?.headers["webhook-id"], two?.headers["webhook-id"]);
    await untilTrue(async () => await isTold(second, id), "the delivery has ended");
    assert.equal(receiver.heard.length, 2);
  });

  it("are not lost if the processes die before anything was sent", async () => {
    await using receiver = await startReceiver();
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    await configure(place, receiver);
    const args = [...slowModel(upstream), ...THREE];
    const first = await serve({ place, args, env });
    const { id } = await first.create({ input: "Hi", background: true });
    await untilTrue(() => upstream.open === 1, "it is being answered");
    await killAll(first);
    upstream.finish();
    await using second = await serve({ place, args, env });
    await receiver.until(1);
    await untilTrue(async () => await isTold(second, id), "the delivery has ended");
    assert.deepEqual(idsOf(receiver), [id]);
  });
});

/** True if the run that reports the response has ended, by the record. */
async function isTold(served: Served, id: string): Promise<boolean> {
  const run = id.replace("resp_", "run_");
  const { body } = await served.ask("GET", `/v1/runs/${run}/tree`);
  const nodes = JSON.stringify(body);
  return /webhook-orders/.test(nodes) && !/"running"|"queued"/.test(nodes);
}

describe("a server with webhooks", () => {
  it("does not start without a secret, and never writes one", async () => {
    await using receiver = await startReceiver();
    await using place = await createPlace();
    await configure(place, receiver);
    const refused = await place.run(["serve", "--no-auth", "--port", "0"]);
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /`orders`: the variable ORDERS_WEBHOOK_SECRET is not set\. `offshoot webhooks secret` makes one\./,
    );
    await using served = await serve({ place, env: { ...env, OFFSHOOT_LOG: "debug" } });
    receiver.answer = (response) => response.writeHead(500).end(SECRET);
    await served.create({ input: "compute 1 + 1", background: true });
    await receiver.until(1);
    assert.ok(!served.command.stderr.includes(SECRET.slice(6)));
  });
});
