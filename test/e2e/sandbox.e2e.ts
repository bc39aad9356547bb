/** The built command with `--sandbox sandbox`: what its commands see, tried by running them. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { SANDBOX_LACK, unless } from "../needs.ts";
import { createPlace } from "./command.ts";
import { CHAT, runAt } from "./wires.ts";

interface Tried {
  readonly files?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The result of a command for the model, and the level in the record. */
async function tryCommand(command: string, { files = {}, flags = [], env = {} }: Tried = {}) {
  await using place = await createPlace({ "a.txt": "inside\n", ...files });
  const call = { name: "shell", arguments: JSON.stringify({ command }) };
  await using upstream = await CHAT.start({
    engine: script(reply.calls([call]), reply.text("Done.")),
  });
  const args = runAt(upstream, CHAT, "--sandbox", "sandbox", ...flags, "go");
  const ended = await place.run(args, { env });
  assert.equal(ended.code, 0, ended.stderr);
  const [id = ""] = await place.runIds();
  const { events } = await place.show(id);
  const decision = events.find((event) => event.type === "tool_decision");
  const end = events.find((event) => event.type === "tool_end");
  assert.ok(end?.type === "tool_end" && end.item.type === "function_call_output");
  return { told: String(end.item.output), decision };
}

describe("a command in the sandbox of the built command", () => {
  const held = unless(SANDBOX_LACK);

  it(...held("runs unasked in the workspace, and the record names the level"), async () => {
    const { told, decision } = await tryCommand("cat a.txt && echo new > b.txt && cat b.txt");
    assert.match(told, /inside\\nnew/);
    assert.deepEqual(
      [decision?.verdict, decision?.by, decision?.sandbox],
      ["allow", "effect", "sandbox"],
    );
  });

  const refused: readonly [name: string, command: string][] = [
    ["a file of the system that holds secrets", "cat /etc/shadow"],
    ["the home folder", "ls -A /root ~ 2>/dev/null | grep -v '^/' ; cat ~/.profile ~/.bashrc"],
    ["the processes of others", "ls /proc | grep -c '^[0-9]' | xargs test 30 -lt && echo LEAK"],
    ["the environment of its parent", "tr '\\0' '\\n' < /proc/1/environ | grep TEST_SECRET"],
  ];
  for (const [name, command] of refused) {
    it(...held(`does not see ${name}`), async () => {
      const env = { TEST_SECRET_KEY: "LEAK-0123456789" };
      const { told } = await tryCommand(command, { env });
      assert.doesNotMatch(told, /LEAK|root:|HISTSIZE/, told);
    });
  }

  it(...held("reaches no server of this machine"), async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked++;
      response.end("REACHED");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const code = `fetch('http://127.0.0.1:${port}').then((r) => r.text()).then(console.log)`;
    try {
      const { told } = await tryCommand(`node -e "${code}"`);
      assert.doesNotMatch(told, /REACHED/);
      assert.equal(asked, 0);
    } finally {
      server.close().closeAllConnections();
    }
  });

  it(...held("sees no file that a rule denies, by whatever pattern it is named"), async () => {
    const files = { ".env": "KEY=LEAK", "secrets/b.txt": "LEAK" };
    const flags = ["--deny", "path(secrets/**)"];
    const { told } = await tryCommand("cat .e?v; cat sec*/b.txt; grep -r LEA . --include=b.txt", {
      files,
      flags,
    });
    assert.doesNotMatch(told, /=LEAK|:LEAK|LEAK\\n/, told);
  });

  it(...held("makes no folder that others would obey"), async () => {
    const { told } = await tryCommand(
      "mkdir -p .git/hooks .offshoot; echo x > .git/hooks/pre-commit; echo x > .offshoot/config.yaml; ls .git/hooks .offshoot",
    );
    assert.match(told, /Read-only file system|Permission denied|cannot create/);
  });

  it("is refused if it is not available: one line, exit 2, nothing sent", async () => {
    await using place = await createPlace();
    await using upstream = await CHAT.start({ engine: script(reply.text("Done.")) });
    const args = runAt(upstream, CHAT, "--sandbox", "sandbox", "go");
    const ended = await place.run(args, { env: { PATH: "/nowhere" } });
    assert.equal(ended.code, 2, ended.stderr);
    assert.match(ended.stderr, /bubblewrap|bwrap/);
    assert.equal(upstream.requests.length, 0);
  });
});
