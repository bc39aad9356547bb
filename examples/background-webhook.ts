/**
 * A response in the background, and a webhook that is called when it has ended. The server and the receiver are in one
 * program here; docs/webhooks.md has them as two. In a clone: `node scripts/compile.js`, then
 * `node build/examples/background-webhook.js`.
 */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createServerApp, type ServerApp } from "offshoot/server";

/** An older event may be a recorded one that an attacker sends again. */
const MAX_AGE_SECONDS = 300;

interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: string };
}

/** Returns the event if its signature is valid. The official SDKs have this as `webhooks.unwrap`. */
export function readEvent(
  body: string,
  headers: IncomingHttpHeaders,
  secret: string,
): WebhookEvent | undefined {
  const timestamp = headers["webhook-timestamp"];
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= MAX_AGE_SECONDS;
  const secretBytes = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = `${headers["webhook-id"]}.${timestamp}.${body}`;
  const wanted = Buffer.from(
    `v1,${createHmac("sha256", secretBytes).update(signed).digest("base64")}`,
  );
  // While a secret is replaced there are two signatures, separated by a space.
  const isSigned = String(headers["webhook-signature"])
    .split(" ")
    .map((signature) => Buffer.from(signature))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted));
  return isFresh && isSigned ? (JSON.parse(body) as WebhookEvent) : undefined;
}

/** Calls `onEvent` once for each event. The same event may arrive again; its id shows that. */
export async function openReceiver(secret: string, onEvent: (event: WebhookEvent) => void) {
  const seen = new Set<string>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const event = readEvent(body, request.headers, secret);
    // Answer first and work afterwards: an answer that takes 15 seconds counts as a failure.
    response.writeHead(event ? 200 : 400).end();
    if (!event || seen.has(event.id)) return;
    seen.add(event.id);
    onEvent(event);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Asks in the background, waits for the webhook, and reads the answer by the id in the event. */
export async function askInBackground(input: string): Promise<readonly string[]> {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  let tell: (event: WebhookEvent) => void = () => {};
  const told = new Promise<WebhookEvent>((resolve) => {
    tell = resolve;
  });
  const receiver = await openReceiver(secret, tell);
  const app = await createServerApp({
    env: { EXAMPLE_WEBHOOK_SECRET: secret },
    settings: {
      model: "embedded/offline",
      // Only for a receiver in your own network.
      web_private_hosts: [receiver.host],
      server: {
        webhooks: {
          example: { url: `http://${receiver.host}/hook`, secret_name: "EXAMPLE_WEBHOOK_SECRET" },
        },
      },
    },
  });
  try {
    const key = await app.createKey({ name: "example" });
    const body = JSON.stringify({ model: "embedded/offline", input, background: true });
    const { status } = await call(app, key, "responses", { method: "POST", body });
    const { type, data } = await told;
    const { output } = await call(app, key, `responses/${data.id}`);
    return [status, `${type}: ${output?.at(-1)?.content[0]?.text}`];
  } finally {
    await app.close();
    await receiver.close();
  }
}

interface Answer {
  readonly status: string;
  readonly output?: readonly { readonly content: readonly { readonly text: string }[] }[];
}

async function call(
  app: ServerApp,
  key: string,
  path: string,
  init?: RequestInit,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await app.fetch(new Request(`http://localhost/v1/${path}`, { ...init, headers }));
  if (!answer.ok) throw new Error(`The server answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const line of await askInBackground("compute 6*7")) console.log(line);
}
