import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../../../src/base/clock.ts";
import type { Options } from "../../../src/cli/command.ts";
import { parseKeyWish } from "../../../src/cli/commands/key-wish.ts";
import { run } from "../../../src/cli/commands/keys.ts";
import { KEY_LIMITS } from "../../../src/server/guard/key.ts";
import { createKey } from "../../../src/server/guard/keys.ts";
import type { Amounts } from "../../../src/store/spending.ts";
import { createSqliteSpending } from "../../../src/store/sqlite/sqlite-spending.ts";
import { openSqliteStores } from "../../../src/store/sqlite/sqlite-store.ts";
import { createSandbox, type Sandbox } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

async function keys(
  sandbox: Sandbox,
  words: readonly string[],
  options: Options = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = createFakeIo(sandbox);
  return { code: await run({ words, options }, io), ...io.written };
}

async function makeKey(sandbox: Sandbox, name: string): Promise<string> {
  return (await keys(sandbox, ["create", name])).stdout.split("_")[1] ?? "";
}

/** As an older version made it, which accepted two keys with one name. */
async function makeUnchecked(sandbox: Sandbox, name: string): Promise<string> {
  const path = join(sandbox.home, ".local/share/offshoot/runs.db");
  const { shelf, close } = await openSqliteStores(path);
  const { key } = await createKey({ shelf, clock: systemClock }, { name });
  await close();
  return key.id;
}

/** Books it as a server does. */
async function spend(sandbox: Sandbox, id: string, used: Partial<Amounts>): Promise<void> {
  const { chunksDb, close } = await openSqliteStores(
    join(sandbox.home, ".local/share/offshoot/runs.db"),
  );
  const nowMs = Date.now();
  await createSqliteSpending(chunksDb).settle(id, used, { takenMs: nowMs, nowMs });
  await close();
}

describe("offshoot keys", () => {
  it("refuses a name of a key that is in use", async (t) => {
    const sandbox = createSandbox(t);
    const id = await makeKey(sandbox, "ci");
    const message = new RegExp(
      `There is a key named \`ci\` already \\(${id}\\)\\..*keys rotate ci$`,
    );
    await assert.rejects(keys(sandbox, ["create", "ci"]), { code: "conflict", message });
    await keys(sandbox, ["revoke", "ci"]);
    assert.equal((await keys(sandbox, ["create", "ci"])).code, 0);
  });

  it("makes a key that is shown once, lists it and revokes it", async (t) => {
    const sandbox = createSandbox(t);
    assert.match(
      (await keys(sandbox, [])).stderr,
      /^Keys for clients of `offshoot serve`\..*: offshoot auth list\nNo keys yet\./,
    );
    const flags = { "usd-per-day": "2.50", models: "gpt-*", tools: "none", tenant: "team" };
    const { stdout: token, stderr } = await keys(sandbox, ["create", "mine"], flags);
    const [, id = "", secret = ""] = token.trim().split("_");
    assert.match(token, /^osk_[0-9a-z]{12}_[0-9a-f]{64}\n$/);
    assert.match(stderr, new RegExp(`^This is the key \`${id}\``));
    const listed = await keys(sandbox, ["list"]);
    const may = "responses,files,models models=gpt-* tools=none usd-per-day=$2.50";
    const none = "0 requests, 0 tokens, $0.00";
    const row = `${id}  mine  team  active  never used  today ${none}  in all ${none}  ${may}\n`;
    assert.equal(listed.stdout, row);
    assert.match(stderr, /With a limit in dollars, this key cannot use models whose price/);
    assert.match((await keys(sandbox, ["revoke", id])).stdout, /is revoked/);
    const shown = await keys(sandbox, ["list"], { json: true });
    const [key] = JSON.parse(shown.stdout) as Record<string, unknown>[];
    assert.deepEqual([key?.["id"], key?.["state"]], [id, "revoked"]);
    assert.ok(!shown.stdout.includes(secret) && !("hash" in (key ?? {})));
  });

  it("distinguishes free tokens from tokens with an unknown price", async (t) => {
    const sandbox = createSandbox(t);
    const wanted: [Partial<Amounts>, RegExp][] = [
      [{ requests: 2, tokens: 40 }, /in all 2 requests, 40 tokens, free {2}/],
      [{ requests: 2, tokens: 40, unpriced: 40 }, /in all 2 requests, 40 tokens, cost unknown {2}/],
      [{ tokens: 50, usd: 0.5, unpriced: 40 }, /50 tokens, \$0\.50 \+ unknown {2}/],
      [{ tokens: 50, usd: 0.5 }, /50 tokens, \$0\.50 {2}/],
    ];
    for (const [at, [used, text]] of wanted.entries()) {
      const id = await makeKey(sandbox, `mine-${at}`);
      await spend(sandbox, id, used);
      const { stdout } = await keys(sandbox, ["list"]);
      assert.match(stdout.split("\n").find((line) => line.startsWith(id)) ?? "", text);
    }
  });

  it("shows all of a key except its secret, by id or by name", async (t) => {
    const sandbox = createSandbox(t);
    const flags = { "usd-per-day": "5", "max-cost": "0.5", models: "gpt-*", tenant: "team" };
    const { stdout: token } = await keys(sandbox, ["create", "ci"], flags);
    const [, id = "", secret = ""] = token.trim().split("_");
    await spend(sandbox, id, { requests: 3, tokens: 1200, usd: 0.25 });
    const { stdout } = await keys(sandbox, ["show", "ci"]);
    assert.equal((await keys(sandbox, ["show", id])).stdout, stdout);
    const lines = new Map(stdout.split("\n").map((line) => [line.slice(0, 12).trim(), line]));
    const value = (name: string): string => lines.get(name)?.slice(12) ?? "";
    assert.equal(value("id"), id);
    assert.equal(value("tenant"), "team");
    assert.equal(value("scopes"), "responses, files, models");
    assert.equal(value("models"), "gpt-*");
    assert.equal(value("tools"), "all");
    assert.equal(value("options"), "sampling");
    assert.equal(value("limits"), "usd-per-day=$5.00");
    assert.equal(value("a response"), "max-cost=$0.50");
    assert.equal(value("in all"), "3 requests, 1200 tokens, $0.25");
    assert.match(value("created"), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    assert.equal(value("last used"), "never");
    assert.match((await keys(sandbox, ["list"])).stdout, / usd-per-day=\$5\.00 max-cost=\$0\.50/);
    const narrowed = await keys(sandbox, ["update", "ci"], { options: "none" });
    assert.match(narrowed.stdout, /^options +none$/m);
    const usual = await keys(sandbox, ["update", "ci"], { options: "sampling" });
    assert.match(usual.stdout, /^options +sampling$/m);
    const { stdout: json } = await keys(sandbox, ["show", "ci"], { json: true });
    const shown = JSON.parse(json) as { used: { total: Amounts } } & Record<string, unknown>;
    assert.deepEqual(shown.used.total, { requests: 3, tokens: 1200, usd: 0.25, unpriced: 0 });
    for (const text of [stdout, json]) assert.ok(!text.includes(secret) && !text.includes("hash"));
  });

  it("changes what is named, removes what is `none` or `all`, and leaves the rest", async (t) => {
    const sandbox = createSandbox(t);
    const flags = { "usd-per-day": "5", "requests-per-day": "9", models: "gpt-*", expires: "30d" };
    await keys(sandbox, ["create", "ci"], { ...flags, "max-turns": "4", tools: "none" });
    const change = { "usd-per-day": "none", concurrent: "2", models: "all", scopes: "responses" };
    const { stdout } = await keys(sandbox, ["update", "ci"], { ...change, json: true });
    const changed = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual(changed["limits"], { requests_per_day: 9, concurrent: 2 });
    assert.deepEqual(changed["models"], null);
    assert.deepEqual(changed["catalogue"], []);
    assert.deepEqual(changed["scopes"], ["responses"]);
    assert.notEqual(changed["expires_at_ms"], null);
    assert.equal((changed["response_limits"] as { turns: number }).turns, 4);
    const more = { "max-turns": "none", tools: "all", expires: "none", json: true };
    const again = JSON.parse((await keys(sandbox, ["update", "ci"], more)).stdout);
    assert.equal(again.response_limits.turns, null);
    assert.deepEqual([again.catalogue, again.expires_at_ms], [null, null]);
    assert.deepEqual(again.limits, changed["limits"]);
  });

  it("gives a key a new secret, under the same id", async (t) => {
    const sandbox = createSandbox(t);
    const id = await makeKey(sandbox, "ci");
    const { stdout, stderr } = await keys(sandbox, ["rotate", "ci"], { "keep-old": "1h" });
    assert.match(stdout, new RegExp(`^osk_${id}_[0-9a-f]{64}\n$`));
    assert.match(stderr, /The old one works until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.\n$/);
    assert.match(
      (await keys(sandbox, ["show", id])).stdout,
      /rotated .*the old secret works until/,
    );
    const at_once = await keys(sandbox, ["rotate", id], { json: true });
    const { token, ...shown } = JSON.parse(at_once.stdout) as Record<string, unknown>;
    assert.match(String(token), new RegExp(`^osk_${id}_`));
    assert.equal(shown["old_secret_until_ms"], shown["rotated_at_ms"]);
    assert.ok(!("hash" in shown) && !("replaced" in shown));
    assert.match(at_once.stderr, /The old one does not work any more\./);
  });

  it("accepts a name only if it means one key", async (t) => {
    const sandbox = createSandbox(t);
    const ids = [await makeKey(sandbox, "twin"), await makeUnchecked(sandbox, "twin")];
    const several = new RegExp(`Several keys are named \`twin\`.*: ${ids.join(", ")}\\.$`);
    for (const action of ["show", "rotate", "revoke"]) {
      await assert.rejects(keys(sandbox, [action, "twin"]), several);
    }
    await keys(sandbox, ["revoke", ids[0] ?? ""]);
    assert.match((await keys(sandbox, ["show", "twin"])).stdout, new RegExp(`${ids[1]}`));
    const gone = keys(sandbox, ["update", ids[0] ?? ""], { concurrent: "1" });
    await assert.rejects(gone, /is revoked, which is for good/);
    await assert.rejects(keys(sandbox, ["rotate", ids[0] ?? ""]), /is revoked, which is for good/);
  });

  it("says what is wrong, and makes nothing", async (t) => {
    const sandbox = createSandbox(t);
    const wrong: [string[], Options, RegExp][] = [
      [["create"], {}, /Write `offshoot keys create NAME`/],
      [["create", "a", "b"], {}, /Write `offshoot keys create NAME`/],
      [["create", "a b"], {}, /The name of a key is/],
      [["create", "a"], { tenant: "" }, /The tenant of a key is/],
      [["create", "a"], { scopes: "response" }, /Unknown scope `response`.*mean `responses`/],
      [["create", "a"], { "usd-per-day": "-1" }, /--usd-per-day takes dollars/],
      [["create", "a"], { concurrent: "1.5" }, /--concurrent takes a whole number/],
      [["create", "a"], { expires: "0d" }, /--expires takes a time to come/],
      [["create", "a"], { expires: "2001-01-01" }, /--expires takes a time to come/],
      [["create", "a"], { expires: "soon" }, /--expires takes a time to come/],
      [["create", "a"], { tools: "nosuch" }, /No tool fits `nosuch`\. Tools: read,/],
      [["create", "a"], { tools: "read,bash_raed" }, /`bash_raed`\. Did you mean `bash_read`\?/],
      [["create", "a"], { tools: "" }, /--tools is empty.*`none` makes a key without tools/],
      [["create", "a"], { models: " , " }, /--models is empty\. Leave it out for all of them\.$/],
      [["create", "a"], { scopes: "" }, /--scopes is empty/],
      [["revoke", "nobody"], {}, /There is no key `nobody`/],
      [["show"], {}, /Write `offshoot keys show NAME\|ID`/],
      [["show", "nobody"], {}, /There is no key `nobody`/],
      [["update", "nobody"], {}, /Say what to change.*`none` removes a limit/],
      [["update", "nobody"], { json: true }, /Say what to change/],
      [["update", "nobody"], { concurrent: "1" }, /There is no key `nobody`/],
      [["update", "nobody"], { concurrent: "0" }, /takes a whole number above 0, or `none`/],
      [["rotate", "nobody"], {}, /There is no key `nobody`/],
      [["rotate", "nobody"], { "keep-old": "long" }, /--keep-old takes a time like `30m`/],
      [["lose", "a"], {}, /Unknown command `offshoot keys lose`/],
    ];
    for (const [words, options, message] of wrong) {
      await assert.rejects(keys(sandbox, words, options), message);
    }
    assert.equal((await keys(sandbox, ["list"])).stdout, "");
  });
});

const AROUND = { nowMs: 0, knownTools: [] };

describe("what `offshoot keys create` asks for", () => {
  it("is a limit for each flag of that name", () => {
    const names = Object.keys(KEY_LIMITS);
    const flags = names.map((name) => [name.replaceAll("_", "-"), "7"]);
    const { limits } = parseKeyWish("a", Object.fromEntries(flags), AROUND);
    assert.deepEqual(limits, Object.fromEntries(names.map((name) => [name, 7])));
  });

  it("is a list of fields that requests may set, or none", () => {
    const ask = (options: string) => parseKeyWish("a", { options }, AROUND).options;
    assert.deepEqual(ask("top_k, provider,x_*"), ["top_k", "provider", "x_*"]);
    assert.deepEqual(ask("none"), []);
    assert.deepEqual(ask("*"), ["*"]);
    assert.deepEqual(ask("all"), ["*"]);
    assert.equal(ask("sampling"), undefined);
    assert.throws(() => ask(","), /--options is empty.*`none` makes a key without options/);
    assert.throws(() => ask("max_tokens"), /--options cannot set `max_tokens`/);
  });

  it("limits one response with the flags of `offshoot run`", () => {
    const flags = { "max-cost": "0.5", "max-total-tokens": "100", "max-tool-calls": "3" };
    const { responseLimits } = parseKeyWish("a", flags, AROUND);
    assert.deepEqual(responseLimits, { usd: 0.5, tokens: 100, tool_calls: 3 });
  });

  it("expires after a while or on a day", () => {
    const expiry = (expires: string) =>
      parseKeyWish("a", { expires }, { ...AROUND, nowMs: 1000 }).expiresAtMs;
    assert.equal(expiry("30d"), 1000 + 30 * 86_400_000);
    assert.equal(expiry("12h"), 1000 + 12 * 3_600_000);
    assert.equal(expiry("2030-12-31"), Date.UTC(2030, 11, 31));
  });
});
