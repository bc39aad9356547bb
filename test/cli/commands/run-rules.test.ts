/** Rules and agents' tools that name nothing there is: `offshoot run` refuses them before it sends anything. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

const AGENT = "---\nname: helper\ndescription: Helps.\ntools: [raed]\n---\nHelp.\n";

describe("offshoot serve", () => {
  it("is refused if the folder of its tools does not exist", async (t) => {
    const io = createFakeIo(createSandbox(t));
    const words = ["serve", "--port", "0", "-m", "embedded", "--root", "/nonexist"];
    assert.equal(await main(words, io), 2);
    assert.match(io.written.stderr, /There is no folder `\/nonexist`.*`server\.root`, --root/);
  });
});

describe("a rule that names no tool", () => {
  const rows: readonly [where: string, flags: readonly string[], file: string, says: RegExp][] = [
    ["a flag", ["--deny", "shel(rm *)"], "", /--deny: .*`shel\(rm \*\)`.*Did you mean `shell`\?/],
    ["a flag that nothing is like", ["--deny", "nosuchtool"], "", /names no tool\. Tools: read,/],
    ["an empty flag", ["--allow", ""], "", /`--allow` has an empty rule/],
    ["an empty flag among others", ["--deny", "shell", "--deny", ""], "", /has an empty rule/],
    ["the settings", [], "ask: ['writ(docs)']\n", /user file .*Did you mean `write`\?/],
    ["an empty rule in the settings", [], "deny: ['']\n", /is not a valid rule/],
  ];
  for (const [where, flags, file, says] of rows) {
    it(`is refused in ${where}`, async (t) => {
      const sandbox = createSandbox(t);
      put(sandbox.userFile, `probe_local: false\n${file}`);
      const io = createFakeIo(sandbox);
      assert.equal(await main(["run", "--no-store", "-m", "embedded", ...flags, "hello"], io), 2);
      assert.match(io.written.stderr, says);
    });
  }

  it("is refused among an agent's tools", async (t) => {
    const sandbox = createSandbox(t);
    put(join(sandbox.home, ".config/offshoot/agents/helper.md"), AGENT);
    const io = createFakeIo(sandbox);
    assert.equal(await main(["run", "--no-store", "-m", "embedded", "hello"], io), 2);
    assert.match(io.written.stderr, /helper\.md: No tool fits `raed`\. Did you mean `read`\?/);
  });
});
