/**
 * Addresses of a record that no database can have. Commands report them in one line that shows no password, without a
 * connection.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPlace } from "./command.ts";

const IS_NONE = /is not `postgres:\/\/USER@HOST:PORT\/DATABASE`/;

const ADDRESSES: Readonly<Record<string, readonly [address: string, says: RegExp]>> = {
  "has a space": ["postgres://exa mple:port/none", IS_NONE],
  "has an unescaped % in its name": ["postgres://me:hunter2@127.0.0.1:1/100%ours", IS_NONE],
  "has a zero character in its name": ["postgres://me:hunter2@127.0.0.1:1/no%00ne", IS_NONE],
  "has an unescaped # in its password": ["postgres://me:hunter#2@127.0.0.1:1/none", IS_NONE],
  "has a port that is not a number": ["postgres://me@127.0.0.1/none?port=usual", IS_NONE],
  "is of another kind of database": [
    "mysql://root@127.0.0.1/none",
    /`OFFSHOOT_STORE` must be .*`postgres:\/\/…`/,
  ],
  "names a certificate that is not there": [
    "postgres://me@127.0.0.1:1/none?sslrootcert=/no-such.pem",
    /cannot be used: ENOENT[^\n]*no-such\.pem'\. Check `sslmode` and `sslrootcert`/,
  ],
};

describe("an address of a record that", () => {
  for (const [name, [address, says]] of Object.entries(ADDRESSES)) {
    it(`${name} is reported in one line`, async () => {
      await using place = await createPlace();
      const env = { OFFSHOOT_STORE: address };
      for (const words of [
        ["serve", "--port", "0", "-m", "embedded/offline"],
        ["runs", "list"],
      ]) {
        const ended = await place.run(words, { env });
        assert.equal(ended.code, 2, ended.stderr);
        assert.match(ended.stderr, /^offshoot: [^\n]+\n$/);
        assert.match(ended.stderr, says);
        assert.doesNotMatch(ended.stderr, /hunter/);
        assert.equal(ended.stdout, "");
      }
    });
  }

  it("has a password with unescaped letters does not show it, and is not accepted as a setting", async () => {
    await using place = await createPlace();
    for (const letter of ["%", "#", "/", "?", "@"]) {
      const address = `postgres://me:hun${letter}ter@127.0.0.1:1/none`;
      const shown = await place.run(["config", "get", "store"], {
        env: { OFFSHOOT_STORE: address },
      });
      assert.doesNotMatch(shown.stdout + shown.stderr, /hun|ter@/, letter);
      for (const words of [
        ["runs", "list", "--store", address],
        ["store", "copy", "--to", address],
        ["config", "set", "store", address],
      ]) {
        const ended = await place.run(words);
        assert.equal(ended.code, 2, `${words.join(" ")}: ${ended.stderr}`);
        assert.match(ended.stderr, /^offshoot: [^\n]+password[^\n]*\n$/);
      }
    }
  });
});
