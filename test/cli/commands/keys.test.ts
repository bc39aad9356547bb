import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Options } from "../../../src/cli/command.ts";
import { parseKeyWish } from "../../../src/cli/commands/key-wish.ts";
import { run } from "../../../src/cli/commands/keys.ts";
import { KEY_LIMITS } from "../../../src/server/guard/key.ts";
import { openSqliteStores } from "../../../src/store/sqlite-store.ts";
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

describe("offshoot keys", () => {
  it("makes a key that is shown once, lists it and revokes it", async (t) => {
    const sandbox = createSandbox(t);
    assert.match((await keys(sandbox, [])).stderr, /^No keys yet\./);
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

  it("does not call tokens whose price is not known free", async (t) => {
    const sandbox = createSandbox(t);
    const { stdout: token } = await keys(sandbox, ["create", "mine"]);
    const [, id = ""] = token.trim().split("_");
    const path = join(sandbox.home, ".local/share/offshoot/runs.db");
    const { chunksDb, close } = await openSqliteStores(path);
    const sql =
      "insert into spending (key_id, window, requests, tokens, usd) values (?, 'total', 2, 40, 0)";
    chunksDb.run(sql, id);
    await close();
    const { stdout } = await keys(sandbox, ["list"]);
    assert.match(stdout, /in all 2 requests, 40 tokens, free or cost unknown/);
  });

  it("says what is wrong, and makes nothing", async (t) => {
    const sandbox = createSandbox(t);
    const wrong: [string[], Options, RegExp][] = [
      [["create"], {}, /Write `offshoot keys create NAME`/],
      [["create", "a", "b"], {}, /Write `offshoot keys create NAME`/],
      [["create", "a b"], {}, /The name of a key is/],
      [["create", "a"], { tenant: "" }, /The tenant of a key is/],
      [["create", "a"], { scopes: "response" }, /no scope `response`.*mean `responses`/],
      [["create", "a"], { "usd-per-day": "-1" }, /--usd-per-day takes dollars/],
      [["create", "a"], { concurrent: "1.5" }, /--concurrent takes a whole number/],
      [["create", "a"], { expires: "0d" }, /--expires takes a time to come/],
      [["create", "a"], { expires: "2001-01-01" }, /--expires takes a time to come/],
      [["create", "a"], { expires: "soon" }, /--expires takes a time to come/],
      [["create", "a"], { tools: "nosuch" }, /No tool fits `nosuch`\. Tools: read,/],
      [["create", "a"], { tools: "read,bash_raed" }, /`bash_raed`\. Did you mean `bash_read`\?/],
      [["create", "a"], { tools: "" }, /--tools is empty.*`none` is a key without tools/],
      [["create", "a"], { models: " , " }, /--models is empty\. Leave it out for all of them\.$/],
      [["create", "a"], { scopes: "" }, /--scopes is empty/],
      [["revoke", "nobody"], {}, /There is no key `nobody`/],
      [["lose", "a"], {}, /There is no `offshoot keys lose`/],
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

  it("bounds one response in the words of `offshoot run`", () => {
    const flags = { "max-cost": "0.5", "max-total-tokens": "100", "max-tool-calls": "3" };
    const { responseLimits } = parseKeyWish("a", flags, AROUND);
    assert.deepEqual(responseLimits, { usd: 0.5, tokens: 100, tool_calls: 3 });
  });

  it("ends after a while or on a day", () => {
    const expiry = (expires: string) =>
      parseKeyWish("a", { expires }, { ...AROUND, nowMs: 1000 }).expiresAtMs;
    assert.equal(expiry("30d"), 1000 + 30 * 86_400_000);
    assert.equal(expiry("12h"), 1000 + 12 * 3_600_000);
    assert.equal(expiry("2030-12-31"), Date.UTC(2030, 11, 31));
  });
});
