import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeWebhookSecret } from "../../../src/responses/webhooks/webhook-secret.ts";
import { checkConfigValue } from "../../../src/runtime/config/config-value.ts";
import { toWebhookEndpoints } from "../../../src/server/running/webhook-endpoints.ts";

const check = (map: object): unknown => checkConfigValue("server.webhooks", map, "config.yaml");
const ROW = { url: "https://x.org/hook", secret_name: "ORDERS_SECRET" };

describe("the setting `server.webhooks`", () => {
  it("names addresses, secrets by their variables, events and tenants", () => {
    const events = ["response.completed"];
    const map = {
      orders: ROW,
      both: { ...ROW, secret_name: ["NEW", "OLD"], events, tenants: ["a*"] },
    };
    assert.deepEqual(check(map), map);
  });

  const WRONG: Readonly<Record<string, [object, RegExp]>> = {
    "a name that cannot be part of an id": [{ "a/b": ROW }, /`a\/b` must be letters/],
    "no map": [{ orders: "https://x.org" }, /must be a map with `url` and `secret_name`/],
    "no secret": [{ orders: { url: ROW.url } }, /`secret_name` is missing/],
    "no address": [{ orders: { ...ROW, url: "x.org" } }, /must be an https address/],
    "a user in the address": [{ orders: { ...ROW, url: "https://a:b@x.org" } }, /without a user/],
    "another scheme": [{ orders: { ...ROW, url: "file:///etc/passwd" } }, /must be an https/],
    "an unknown event": [
      { orders: { ...ROW, events: ["response.complete"] } },
      /Did you mean `response.completed`\?/,
    ],
    "an unknown field": [{ orders: { ...ROW, secrets: "X" } }, /does not know `secrets`/],
    "three secrets": [{ orders: { ...ROW, secret_name: ["A", "B", "C"] } }, /two of them/],
  };
  for (const [name, [map, message]] of Object.entries(WRONG)) {
    it(`is refused in one line with ${name}`, () => {
      assert.throws(
        () => check(map),
        (thrown) => {
          assert.ok(thrown instanceof Error);
          assert.match(thrown.message, message);
          assert.ok(!thrown.message.includes("\n"));
          return true;
        },
      );
    });
  }

  it("never shows a secret that was written where its variable's name belongs", () => {
    const secret = makeWebhookSecret();
    assert.throws(
      () => check({ orders: { ...ROW, secret_name: secret } }),
      (thrown) => thrown instanceof Error && !thrown.message.includes(secret.slice(6)),
    );
  });
});

describe("the endpoints of a server", () => {
  const around = (env: Record<string, string>, privateHosts: string[] = []) => ({
    env,
    privateHosts,
  });

  it("have the keys that their variables hold, and receive all events by default", () => {
    const env = { A_SECRET: makeWebhookSecret(), B_SECRET: makeWebhookSecret() };
    const rows = { orders: { ...ROW, secret_name: ["A_SECRET", "B_SECRET"] } };
    const [endpoint] = toWebhookEndpoints(rows, around(env));
    assert.deepEqual([endpoint?.keys.length, endpoint?.events.length], [2, 4]);
    assert.equal(endpoint?.tenants, undefined);
  });

  it("are refused without a secret, or with an invalid one", () => {
    assert.throws(() => toWebhookEndpoints({ orders: ROW }, around({})), {
      message:
        "`server.webhooks`: `orders`: the variable ORDERS_SECRET is not set. `offshoot webhooks secret` makes one.",
    });
    assert.throws(() => toWebhookEndpoints({ orders: ROW }, around({ ORDERS_SECRET: "hunter2" })), {
      message: /holds no webhook secret \(`whsec_…`\)/,
    });
  });

  it("have https addresses, except in the operator's own network", () => {
    const env = { ORDERS_SECRET: makeWebhookSecret() };
    const rows = { orders: { ...ROW, url: "http://hooks.lan:8080/x" } };
    assert.throws(() => toWebhookEndpoints(rows, around(env)), {
      message: /Use https, or name `hooks.lan:8080` in `web_private_hosts`/,
    });
    assert.equal(toWebhookEndpoints(rows, around(env, ["hooks.lan:8080"])).length, 1);
  });
});
