/** The keyrings' own commands, with stand-ins that record their arguments: no key is among them. */

import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { findKeyring } from "../../src/runtime/auth/keyring.ts";
import { createPlace } from "./command.ts";

const KEY = "Grm7pQ2vXw9sKd4z";

/**
 * Keeps one secret in a file, like `secret-tool` in a keyring; without `open` it answers like without a
 * bus.
 */
const SECRET_TOOL = `#!/bin/sh
dir=$(dirname "$0")
echo "$@" >> "$dir/words"
[ -e "$dir/locked" ] && { echo "Cannot autolaunch D-Bus without X11 \\$DISPLAY" >&2; exit 1; }
for last; do :; done
case "$1" in
store) cat > "$dir/kept-$last" ;;
lookup) [ -e "$dir/kept-$last" ] && cat "$dir/kept-$last" || exit 1 ;;
clear) rm -f "$dir/kept-$last" ;;
esac
`;

async function install(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "offshoot-ring-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "secret-tool"), SECRET_TOOL);
  await chmod(join(folder, "secret-tool"), 0o755);
  return folder;
}

const pathOf = (folder: string): string => `relative:${folder}:${process.env["PATH"]}`;

describe("the keyring of Linux", () => {
  it("gets the key on standard input and never as an argument", async (t) => {
    const folder = await install(t);
    const ring = findKeyring({ PATH: pathOf(folder), OPENAI_API_KEY: "sk-other" }, "linux");
    assert.ok(ring);
    assert.equal(await ring.answers(), true);
    assert.equal(await ring.read("OPENAI_API_KEY"), undefined);
    await ring.write("OPENAI_API_KEY", KEY);
    assert.equal(await ring.read("OPENAI_API_KEY"), KEY);
    await ring.remove("OPENAI_API_KEY");
    assert.equal(await ring.read("OPENAI_API_KEY"), undefined);
    const words = await readFile(join(folder, "words"), "utf8");
    assert.match(
      words,
      /^store --label=Offshoot: OPENAI_API_KEY service offshoot variable OPENAI_API_KEY$/m,
    );
    assert.ok(!words.includes(KEY));
  });

  it("that is missing or does not answer is distinguished from one without the key", async (t) => {
    const folder = await install(t);
    await writeFile(join(folder, "locked"), "");
    const ring = findKeyring({ PATH: pathOf(folder) }, "linux");
    assert.equal(await ring?.answers(), false);
    await assert.rejects(async () => await ring?.read("X_KEY"), {
      message:
        /^The system's keyring does not answer: Cannot autolaunch D-Bus .* `offshoot config set key_store file`\.$/,
    });
    assert.equal(findKeyring({ PATH: "/nowhere" }, "linux"), undefined);
    assert.equal(findKeyring({ PATH: folder }, "win32"), undefined);
  });

  it("is where `auth set` stores a key by default, and a file if it does not answer", async (t) => {
    const folder = await install(t);
    await using place = await createPlace();
    const env = { PATH: pathOf(folder) };
    const set = await place.run(["auth", "set", "openai"], { env, input: KEY });
    assert.match(set.stdout, /stored in the keyring \(secret-tool\)\./);
    assert.equal(await readFile(join(folder, "kept-OPENAI_API_KEY"), "utf8"), KEY);
    const file = join(place.home, ".local/share/offshoot/auth/OPENAI_API_KEY.json");
    assert.ok(!(await readFile(file, "utf8")).includes(KEY));
    assert.match((await place.run(["models"], { env })).stdout, /stored key \(OPENAI_API_KEY\)/);
    await writeFile(join(folder, "locked"), "");
    const ran = await place.run(["run", "-m", "openai", "Hello"], { env });
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, /The system's keyring does not answer/);
    const again = await place.run(["auth", "set", "openai"], { env, input: KEY });
    assert.match(again.stdout, /OPENAI_API_KEY\.json \(mode 600\)/);
  });
});
