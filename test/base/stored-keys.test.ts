import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { createRedact, findSecrets } from "../../src/base/redact.ts";
import {
  attachStoredKeys,
  keyIn,
  storedIn,
  storedProblem,
  usesStored,
} from "../../src/base/stored-keys.ts";
import { childVariables } from "../../src/delegation/executors/child-environment.ts";
import { chooseModel, keyVariableIn } from "../../src/providers/models/choose-model.ts";
import { commandVariables } from "../../src/tools/sandbox/environment.ts";

const KEY = "Grm7pQ2vXw9sKd4z";

function withKey(variable = "OPENAI_API_KEY", env: Record<string, string> = {}) {
  attachStoredKeys(env, new Map([[variable, KEY]]));
  return env;
}

const findLocal = async (): Promise<undefined> => undefined;

describe("a stored key", () => {
  it("is found by its variable's name, and the environment's own wins over it", () => {
    assert.equal(keyIn(withKey(), "OPENAI_API_KEY"), KEY);
    const both = withKey("OPENAI_API_KEY", { OPENAI_API_KEY: "sk-environment" });
    assert.equal(keyIn(both, "OPENAI_API_KEY"), "sk-environment");
    assert.equal(usesStored(both, "OPENAI_API_KEY"), false);
    const blank = withKey("OPENAI_API_KEY", { OPENAI_API_KEY: "  " });
    assert.deepEqual(
      [keyIn(blank, "OPENAI_API_KEY"), usesStored(blank, "OPENAI_API_KEY")],
      [KEY, true],
    );
  });

  it("is part of a copy of the environment and is listed nowhere", () => {
    const copy = { ...withKey(), MORE: "1" };
    assert.equal(storedIn(copy, "OPENAI_API_KEY"), KEY);
    assert.deepEqual(Object.keys(copy), ["MORE"]);
    assert.ok(!JSON.stringify(copy).includes(KEY));
    assert.ok(!inspect(copy, { depth: 9, showHidden: true }).includes(KEY));
  });

  it("is redacted whatever its variable is called", () => {
    const redact = createRedact(findSecrets(withKey("ACME")));
    assert.equal(redact(`said ${KEY} aloud`), "said [redacted] aloud");
  });

  it("is not passed to commands, not even if its variable is let through by name", () => {
    const env = withKey("GITHUB_TOKEN", { PATH: "/bin", LANG: `x${KEY}` });
    const given = commandVariables(env, ["GITHUB_TOKEN"]);
    assert.deepEqual(given, { PATH: "/bin" });
  });

  it("is passed to a child process that needs it, and to no other", () => {
    const env = withKey("OPENAI_API_KEY", { PATH: "/bin" });
    assert.deepEqual(childVariables(env, ["OPENAI_API_KEY"]), {
      PATH: "/bin",
      OPENAI_API_KEY: KEY,
      OFFSHOOT_STORED_KEYS: "OPENAI_API_KEY",
    });
    assert.deepEqual(childVariables(env, ["GROQ_API_KEY"]), { PATH: "/bin" });
  });
});

describe("the default model, when none was chosen", () => {
  it("is a model of a vendor with a stored key, and the reason says so", async () => {
    const env = withKey("ANTHROPIC_API_KEY");
    assert.equal(keyVariableIn("anthropic", env), "ANTHROPIC_API_KEY");
    const { ref, reason } = await chooseModel({ explicit: undefined, env, findLocal });
    assert.match(ref, /^anthropic\//);
    assert.match(reason, /its key is stored/);
  });

  it("prefers a key in the environment to a stored key", async () => {
    const env = withKey("OPENAI_API_KEY", { GROQ_API_KEY: "gsk_environment" });
    const { ref } = await chooseModel({ explicit: undefined, env, findLocal });
    assert.match(ref, /^groq\//);
  });

  it("is not replaced by another one when the stored keys cannot be read", async () => {
    const env = {};
    attachStoredKeys(env, new Map(), "Run `chmod 600 FILE`.");
    assert.equal(storedProblem(env), "Run `chmod 600 FILE`.");
    await assert.rejects(chooseModel({ explicit: undefined, env, findLocal }), {
      code: "key_missing",
      message: "Run `chmod 600 FILE`.",
    });
    const explicit = { value: "embedded", source: "-m" };
    assert.equal((await chooseModel({ explicit, env, findLocal })).ref, "embedded/offline");
  });
});
