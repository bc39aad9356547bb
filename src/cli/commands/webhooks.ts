/**
 * `offshoot webhooks`: secrets, and the endpoints of the settings. Only `secret` prints a secret.
 */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { isJsonObject } from "../../base/json.ts";
import { keyIn } from "../../base/stored-keys.ts";
import { clip } from "../../base/text.ts";
import { WEBHOOK_EVENTS, type WebhookEvent } from "../../protocol/webhook-event.ts";
import { createSender } from "../../responses/webhooks/send-event.ts";
import { makeWebhookSecret } from "../../responses/webhooks/webhook-secret.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toWebhookEndpoints } from "../../server/running/webhook-endpoints.ts";
import type { RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { cleanForTerminal } from "../terminal.ts";
import { toTable } from "./key-text.ts";

export const run: RunCommand = async ({ words: [verb, name, ...more], options }, io) => {
  if (verb === "secret" && name === undefined) {
    await io.stdout.write(`${makeWebhookSecret()}\n`);
    return 0;
  }
  if (verb === "list" && name === undefined) {
    return await list(await openConfig({}, io), io, options["json"] === true);
  }
  if (verb === "test" && name !== undefined && more.length === 0) {
    return await test(await openConfig({}, io), io, name);
  }
  const message = "Write `offshoot webhooks secret`, `list` or `test NAME`.";
  throw new Failure("invalid_request", message);
};

async function list(config: Config, io: Io, isJson: boolean): Promise<number> {
  const rows = Object.entries(config.get("server.webhooks") ?? {}).map(([name, row]) => {
    const { url, secret_name, events, tenants } = isJsonObject(row) ? row : {};
    const variables = [secret_name].flat().map(String);
    const is_set = variables.every((variable) => keyIn(io.env, variable) !== undefined);
    const told = { events: events ?? WEBHOOK_EVENTS, tenants: tenants ?? null };
    return { name, url: String(url), secret_name: variables, is_set, ...told };
  });
  if (isJson) {
    await io.stdout.write(`${JSON.stringify(rows)}\n`);
    return 0;
  }
  if (rows.length === 0) {
    await io.stderr.write("No webhooks. Name endpoints in `server.webhooks` (docs/webhooks.md).\n");
    return 0;
  }
  const shown = rows.map(({ name, url, secret_name, is_set, events, tenants }) => [
    ...[name, url, `${secret_name.join(", ")}${is_set ? "" : " (not set)"}`],
    (events as readonly string[]).map((event) => event.replace("response.", "")).join(", "),
    tenants === null ? "every tenant" : (tenants as readonly string[]).join(", "),
  ]);
  await io.stdout.write(cleanForTerminal(toTable(shown)));
  return 0;
}

async function test(config: Config, io: Io, name: string): Promise<number> {
  const privateHosts = config.get("web_private_hosts");
  const rows = config.get("server.webhooks") ?? {};
  const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
  if (row === undefined) {
    const known = Object.keys(rows).join(", ") || "none";
    throw new Failure("not_found", `Unknown webhook \`${clip(name, 40)}\`. Available: ${known}.`);
  }
  const [endpoint] = toWebhookEndpoints({ [name]: row }, { env: io.env, privateHosts });
  if (!endpoint) return 0;
  const [type] = endpoint.events;
  const event: WebhookEvent = {
    id: makeId("evt"),
    object: "event",
    type: type ?? WEBHOOK_EVENTS[0],
    created_at: Math.floor(systemClock.now() / 1000),
    data: { id: "resp_test" },
  };
  const stop = new AbortController();
  const unlisten = io.onInterrupt(() => stop.abort(new Failure("cancelled", "Cancelled.")));
  try {
    const send = createSender({ privateHosts }, systemClock);
    const { isTaken, reason } = await send(endpoint, event, stop.signal);
    if (!isTaken) throw new Failure("connector_failed", `\`${name}\` did not accept it: ${reason}`);
    await io.stdout.write(`${name} took ${event.type} ${event.id}.\n`);
    return 0;
  } finally {
    unlisten();
  }
}
