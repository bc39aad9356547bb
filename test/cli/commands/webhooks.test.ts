import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Options } from "../../../src/cli/command.ts";
import { run } from "../../../src/cli/commands/webhooks.ts";
import { makeWebhookSecret } from "../../../src/responses/webhooks/webhook-secret.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";
import { startReceiver } from "../../server/webhook-receiver.ts";
import { createFakeIo } from "../fake-io.ts";

const SECRET = makeWebhookSecret();

interface Asked {
  readonly settings?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly options?: Options;
}

async function webhooks(
  t: TestContext,
  words: readonly string[],
  { settings, env = {}, options = {} }: Asked = {},
): Promise<{ stdout: string; stderr: string }> {
  const sandbox = createSandbox(t);
  if (settings) put(join(sandbox.home, ".config/offshoot/config.yaml"), settings);
  const io = createFakeIo({ ...sandbox, env: { ...sandbox.env, ...env } });
  await run({ words, options }, io);
  return io.written;
}

const ROW = "{url: 'https://x.org/hook', secret_name: ORDERS_SECRET, events: [response.failed]}";
const settings = `server: {webhooks: {orders: ${ROW}}}\n`;

describe("offshoot webhooks", () => {
  it("prints a new secret, and nothing else", async (t) => {
    assert.match((await webhooks(t, ["secret"])).stdout, /^whsec_[A-Za-z0-9+/]{43}=\n$/);
  });

  it("lists the endpoints and whether their secrets are set, without them", async (t) => {
    const unset = await webhooks(t, ["list"], { settings });
    assert.equal(
      unset.stdout,
      "orders  https://x.org/hook  ORDERS_SECRET (not set)  failed  every tenant\n",
    );
    const env = { ORDERS_SECRET: SECRET };
    const { stdout } = await webhooks(t, ["list"], { settings, env, options: { json: true } });
    const [row] = JSON.parse(stdout) as { name: string; is_set: boolean }[];
    assert.deepEqual([row?.name, row?.is_set], ["orders", true]);
    assert.ok(!stdout.includes(SECRET.slice(6)));
  });

  it("sends a signed event to an endpoint, and says why it was not accepted", async (t) => {
    await using receiver = await startReceiver();
    const url = `http://${receiver.host}/hook`;
    const own = `web_private_hosts: ["${receiver.host}"]\nserver: {webhooks: {orders: {url: "${url}", secret_name: ORDERS_SECRET}}}\n`;
    const env = { ORDERS_SECRET: SECRET };
    const { stdout } = await webhooks(t, ["test", "orders"], { settings: own, env });
    assert.match(stdout, /^orders took response\.completed evt_\w+\.\n$/);
    assert.match(String(receiver.heard[0]?.headers["webhook-signature"]), /^v1,/);
    receiver.answer = (response) => response.writeHead(401).end();
    await assert.rejects(webhooks(t, ["test", "orders"], { settings: own, env }), {
      message: "`orders` did not accept it: it answered with status 401",
    });
  });

  it("names its actions if it is asked for another one", async (t) => {
    await assert.rejects(webhooks(t, []), { message: /secret`, `list` or `test NAME`/ });
    await assert.rejects(webhooks(t, ["test", "x"], { settings }), {
      message: "Unknown webhook `x`. Available: orders.",
    });
  });
});
