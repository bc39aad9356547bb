import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandVariables } from "../../../src/tools/sandbox/environment.ts";

describe("commandVariables", () => {
  it("passes what is on the list, and nothing else", () => {
    const env = {
      PATH: "/bin",
      HOME: "/h",
      LC_TIME: "C",
      EDITOR: "vi",
      SSH_AUTH_SOCK: "/s",
      X: undefined,
    };
    assert.deepEqual(commandVariables(env), { PATH: "/bin", HOME: "/h", LC_TIME: "C" });
  });

  it("passes what is named, even a key", () => {
    const env = { PATH: "/bin", API_KEY: "value", OTHER_KEY: "other" };
    assert.deepEqual(commandVariables(env, ["API_KEY"]), { PATH: "/bin", API_KEY: "value" });
  });

  it("drops a listed variable that contains a key", () => {
    const key = "sk-0123456789abcdef";
    const env = { PATH: "/bin", API_KEY: key, LC_ALL: key, SHELL: `/bin/${key}/sh`, LANG: "C" };
    assert.deepEqual(commandVariables(env), { PATH: "/bin", LANG: "C" });
  });

  it("drops a listed name that says it is a key", () => {
    assert.deepEqual(commandVariables({ PATH: "/bin", LC_SECRET: "hush" }), { PATH: "/bin" });
  });

  it("drops relative folders of the path", () => {
    assert.equal(commandVariables({ PATH: ".:/bin::bin:/usr/bin" })["PATH"], "/bin:/usr/bin");
  });

  it("has a default path if there is none", () => {
    assert.match(commandVariables({})["PATH"] ?? "", /^\/usr\/local\/bin:/);
  });
});
