import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { openGrantKey } from "../../src/delegation/runner/grant-key.ts";
import {
  SIGNED_FIELDS,
  signGrant,
  toCanonical,
  verifyGrant,
} from "../../src/delegation/signed-grant.ts";

const KEY = Buffer.alloc(32, 7);
const at = { key: KEY, nowMs: 1000 };

const PAYLOAD: JsonObject = {
  prompt: "Count.",
  grant: [{ tools: ["read"], reads: ["src/**"], hosts: [], sandbox: "process" }],
  expires_at_ms: 2000,
  limits: { turns: 5, tokens: 1000, usd: null, tool_calls: 3, children: 0 },
  ceiling: { turns: 50, tokens: 9000, usd: null, tool_calls: 3, children: 0 },
  max_turns: 5,
  timeout_ms: 60_000,
  depth: 1,
  approve: "deny",
  sandbox: "process",
  root: "/work",
  tool_subset: ["read"],
  safety: { rules: [{ verdict: "deny", text: "path(secrets)" }], sandboxNetwork: false },
  asks: false,
  delegation: { maxDepth: 3 },
  model: "custom/test",
  provider: "openai-chat",
  url: "http://127.0.0.1:1/v1",
  api_key_name: "TEST_KEY",
  options: { provider: { order: ["cheap"] } },
  run: { id: "run_1/a", parent_id: "run_1", path: "/root/a" },
  store_path: "/data/runs.db",
};

/** Each field as a program that wants more would change it. */
const WIDER: JsonObject = {
  grant: [],
  expires_at_ms: 9_999_999_999,
  limits: { turns: 5, tokens: 1001, usd: null, tool_calls: 3, children: 0 },
  ceiling: { turns: 50, tokens: 9001, usd: null, tool_calls: 3, children: 0 },
  max_turns: 50,
  timeout_ms: 60_001,
  depth: 0,
  approve: "auto",
  sandbox: "none",
  root: "/",
  tool_subset: ["read", "shell"],
  safety: { rules: [], sandboxNetwork: false },
  asks: true,
  delegation: { maxDepth: 10 },
  model: "custom/dearer",
  provider: "openai-responses",
  url: "http://elsewhere.example/v1",
  api_key_name: "OTHER_KEY",
  options: { provider: { order: ["dear"] } },
  run: { id: "run_2", parent_id: "run_1", path: "/root" },
  store_path: "/data/other.db",
};

function signed(changes: JsonObject = {}): JsonObject {
  return { ...PAYLOAD, signature: signGrant(PAYLOAD, KEY), ...changes };
}

describe("a signed grant", () => {
  it("is accepted as it was signed, in any order of its fields", () => {
    verifyGrant(signed(), at);
    const turned = Object.fromEntries(Object.entries(signed()).reverse());
    verifyGrant(JSON.parse(JSON.stringify(turned)), at);
  });

  for (const field of Object.keys(WIDER)) {
    it(`is refused when \`${field}\` was widened or removed`, () => {
      assert.notDeepEqual(WIDER[field], PAYLOAD[field]);
      for (const value of [WIDER[field], undefined]) {
        assert.throws(() => verifyGrant(signed({ [field]: value }), at), /signature does not fit/);
      }
    });
  }

  it("covers every field that is tried above", () => {
    assert.deepEqual([...SIGNED_FIELDS].sort(), Object.keys(WIDER).sort());
  });

  it("is refused without a signature, with another grant's, and with half of one", () => {
    const other = signGrant(PAYLOAD, Buffer.alloc(32, 8));
    for (const signature of [undefined, "", null, 7, other, "zz", other.slice(0, 20)]) {
      assert.throws(() => verifyGrant(signed({ signature }), at), {
        code: "invalid_request",
        message: /signature/,
      });
    }
  });

  it("is refused when its time is over", () => {
    assert.throws(() => verifyGrant(signed(), { key: KEY, nowMs: 2000 }), /has expired/);
  });

  it("does not cover the task: a holder may ask anything", () => {
    verifyGrant(signed({ prompt: "Something else.", temperature: 1 }), at);
  });

  it("spells equal values the same", () => {
    const text = toCanonical({ b: [1, { d: null, c: "ü" }], a: undefined, aa: true });
    assert.equal(text, '{"aa":true,"b":[1,{"c":"ü","d":null}]}');
  });
});

describe("the key of grants", () => {
  it("is created once, for the user alone, and is the same for all concurrent callers", async () => {
    const folder = await mkdtemp(join(tmpdir(), "offshoot-key-"));
    try {
      const file = join(folder, "data", "grants.key");
      const keys = await Promise.all(Array.from({ length: 8 }, () => openGrantKey(file)));
      for (const key of keys) assert.deepEqual(key, keys[0]);
      assert.equal(keys[0]?.length, 32);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      assert.match(await readFile(file, "utf8"), /^[0-9a-f]{64}\n$/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("names the file when it has no key", async () => {
    const folder = await mkdtemp(join(tmpdir(), "offshoot-key-"));
    try {
      const file = join(folder, "grants.key");
      await writeFile(file, "short\n");
      await assert.rejects(openGrantKey(file), { code: "invalid_request", message: /grants\.key/ });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
