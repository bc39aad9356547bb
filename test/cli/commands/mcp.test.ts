import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Options } from "../../../src/cli/command.ts";
import { run } from "../../../src/cli/commands/mcp.ts";
import { userPaths } from "../../../src/runtime/paths.ts";
import { createSandbox, put, type Sandbox } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

const BAD = fileURLToPath(new URL("../../tools/mcp/bad-server.js", import.meta.url));
const SERVE = [process.execPath, BAD, "serve"];

async function mcp(
  sandbox: Sandbox,
  words: readonly string[],
  options: Options = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = createFakeIo({ ...sandbox, env: { PATH: process.env["PATH"], MY_KEY: "key-value" } });
  return { code: await run({ words, options }, io), ...io.written };
}

function pinsOf({ home }: Sandbox): Record<string, { tools: Record<string, string> }> {
  const file = userPaths({}, home).pinsFile;
  assert.equal(statSync(file).mode & 0o777, 0o600);
  return JSON.parse(readFileSync(file, "utf8")).servers;
}

describe("offshoot mcp", () => {
  it("adds a program, shows and approves its tools, and lists it without starting it", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "# mine\nmodel: openai/x\n");
    const added = await mcp(sandbox, ["add", "bad", ...SERVE]);
    assert.match(
      added.stdout,
      /^bad: bad 1, 12 tools\n {2}new {6}mcp__bad__echo {2,}Says it again/,
    );
    assert.match(added.stdout, /12 tools of bad approved\.\n$/);
    assert.match(added.stdout, /`no-schema` is left out/);
    assert.match(readFileSync(sandbox.userFile, "utf8"), /^# mine\nmodel: openai\/x\nmcp_servers:/);
    assert.equal(Object.keys(pinsOf(sandbox)["bad"]?.tools ?? {}).length, 12);
    const listed = await mcp(sandbox, []);
    assert.match(listed.stdout, /^bad {2}stdio {2}.* \(12 tools approved\)\n$/);
  });

  it("adds a program with variables, without connecting if told so", async (t) => {
    const sandbox = createSandbox(t);
    const options = { "no-test": true, env: ["MY_KEY", "MODE=fast", "TOKEN=$MY_KEY"] };
    const added = await mcp(sandbox, ["add", "mine", "npx", "-y", "a-server"], options);
    assert.match(added.stdout, /Nothing is approved yet/);
    assert.equal(added.stdout.includes("key-value"), false);
    const listed = await mcp(sandbox, ["list"], { json: true });
    assert.deepEqual(JSON.parse(listed.stdout), [
      { name: "mine", kind: "stdio", address: "npx -y a-server", enabled: true, approved_tools: 0 },
    ]);
    const text = readFileSync(sandbox.userFile, "utf8");
    assert.match(text, /env:\n\s+MY_KEY: \$MY_KEY\n\s+MODE: fast\n\s+TOKEN: \$MY_KEY\n/);
  });

  it("adds a URL with a header that names a variable, and no other", async (t) => {
    const sandbox = createSandbox(t);
    const url = "https://mcp.example.com/mcp";
    const header = (text: string): Options => ({ "no-test": true, header: [text] });
    await mcp(sandbox, ["add", "web", url], header("Authorization: Bearer $MY_KEY"));
    assert.match((await mcp(sandbox, ["list"])).stdout, /^web {2}http {3}https:\/\/mcp\.example/);
    const literal = mcp(sandbox, ["add", "more", url], header("Authorization: Bearer abcdef"));
    await assert.rejects(literal, /must name an environment variable/);
  });

  it("adds nothing that does not work", async (t) => {
    const sandbox = createSandbox(t);
    const adding = mcp(sandbox, ["add", "bad", process.execPath, BAD, "leave"]);
    await assert.rejects(adding, {
      code: "tool_failed",
      message: /no licence found.*was not added; `--no-test` adds it without a test/,
    });
    assert.equal((await mcp(sandbox, ["list"])).stdout, "");
  });

  it("knows no action and no server by a name that every object has", async (t) => {
    const sandbox = createSandbox(t);
    await assert.rejects(
      mcp(sandbox, ["constructor"]),
      /Unknown command `offshoot mcp constructor`/,
    );
    await assert.rejects(mcp(sandbox, ["remove", "constructor"]), { code: "not_found" });
    const options = { "no-test": true };
    await mcp(sandbox, ["add", "constructor", "npx", "a-server"], options);
    assert.match((await mcp(sandbox, ["list"])).stdout, /^constructor /);
    await mcp(sandbox, ["remove", "constructor"]);
    assert.equal((await mcp(sandbox, ["list"])).stdout, "");
  });

  it("adds a server that asks for a login, and none whose variable is missing", async (t) => {
    const sandbox = createSandbox(t);
    const server = createServer((_, response) => response.writeHead(401).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close().closeAllConnections());
    const { port } = server.address() as AddressInfo;
    const added = await mcp(sandbox, ["add", "shut", `http://127.0.0.1:${port}/mcp`]);
    assert.match(added.stdout, /`shut` asks for a login\. Run `offshoot mcp login shut`\.\n$/);
    const adding = mcp(sandbox, ["add", "poor", ...SERVE], { env: ["NOT_SET"] });
    await assert.rejects(adding, { code: "key_missing", message: /`poor` was not added/ });
    assert.match((await mcp(sandbox, ["list"])).stdout, /^shut .*\n$/);
  });

  it("refuses a name that is taken or invalid", async (t) => {
    const sandbox = createSandbox(t);
    await mcp(sandbox, ["add", "a", "x"], { "no-test": true });
    await assert.rejects(mcp(sandbox, ["add", "a", "y"]), /There is an MCP server `a` already/);
    await assert.rejects(
      mcp(sandbox, ["add", "A b", "y"]),
      /is not a valid name for an MCP server/,
    );
    await assert.rejects(mcp(sandbox, ["add", "b"]), /Write `offshoot mcp add NAME URL/);
    await assert.rejects(mcp(sandbox, ["test"]), /Write `offshoot mcp test NAME`/);
    await assert.rejects(mcp(sandbox, ["test", "b"]), { code: "not_found" });
  });

  it("tests against what was approved, and approves again", async (t) => {
    const sandbox = createSandbox(t);
    await mcp(sandbox, ["add", "bad", ...SERVE], { "no-test": true });
    const first = await mcp(sandbox, ["test", "bad"]);
    assert.match(first.stdout, /To approve this: offshoot mcp approve bad\n$/);
    await mcp(sandbox, ["approve", "bad"]);
    const pins = userPaths({}, sandbox.home).pinsFile;
    put(pins, readFileSync(pins, "utf8").replace(/("echo": "sha256:)./, "$1_"));
    const second = await mcp(sandbox, ["test", "bad"]);
    assert.match(second.stdout, /CHANGED {2}mcp__bad__echo/);
    const shown = JSON.parse((await mcp(sandbox, ["test", "bad"], { json: true })).stdout);
    assert.equal(shown.tools[0].standing, "changed");
    await mcp(sandbox, ["approve", "bad"]);
    assert.equal((await mcp(sandbox, ["test", "bad"])).stdout.includes("To agree"), false);
  });

  it("removes a server with its approvals and its stored data", async (t) => {
    const sandbox = createSandbox(t);
    await mcp(sandbox, ["add", "bad", ...SERVE]);
    const logins = userPaths({}, sandbox.home).loginsFile;
    put(logins, '{"servers":{"bad":{"tokens":{"access_token":"t"}},"other":{}}}');
    const removed = await mcp(sandbox, ["remove", "bad"]);
    assert.match(
      removed.stdout,
      /^`bad` is removed from \S+, with its approvals and its login\.\n$/,
    );
    assert.deepEqual(pinsOf(sandbox), {});
    assert.deepEqual(JSON.parse(readFileSync(logins, "utf8")), { servers: { other: {} } });
    assert.equal((await mcp(sandbox, ["list"])).stdout, "");
    await assert.rejects(mcp(sandbox, ["remove", "bad"]), { code: "not_found" });
  });
});
