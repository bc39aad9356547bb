import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKeychain } from "../../../src/runtime/auth/keyring.ts";

const KEY = 'sk-"quoted"$key';

describe("the keychain of macOS", () => {
  it("gets the key as hexadecimal on standard input, and is read back as a check", async () => {
    const asked: (readonly string[])[] = [];
    let kept: string | undefined;
    const ring = createKeychain(async (words, input = "") => {
      asked.push(words);
      const hex = /-X ([0-9a-f]+)\n$/.exec(input)?.[1];
      if (words[0] === "-i") kept = hex && Buffer.from(hex, "hex").toString();
      if (words[0] === "delete-generic-password") kept = undefined;
      const isThere = kept !== undefined && words[0] === "find-generic-password";
      return { code: isThere || words[0] === "-i" ? 0 : 44, stdout: `${kept}\n`, stderr: "" };
    });
    assert.equal(await ring.answers(), true);
    await ring.write("OPENAI_API_KEY", KEY);
    assert.equal(await ring.read("OPENAI_API_KEY"), KEY);
    await ring.remove("OPENAI_API_KEY");
    assert.equal(await ring.read("OPENAI_API_KEY"), undefined);
    assert.ok(!asked.flat().some((word) => word.includes("quoted")));
    assert.deepEqual(asked[1], ["-i"]);
  });

  it("fails if it ends with 0 without having stored the key", async () => {
    const ring = createKeychain(async (words) =>
      words[0] === "-i"
        ? { code: 0, stdout: "", stderr: "User interaction is not allowed." }
        : { code: 44, stdout: "", stderr: "" },
    );
    await assert.rejects(ring.write("OPENAI_API_KEY", KEY), {
      message: /does not answer: User interaction is not allowed\./,
    });
  });
});
