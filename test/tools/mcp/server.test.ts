import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import {
  expandVariables,
  parseMcpServers,
  type StdioReach,
  toAddress,
} from "../../../src/tools/mcp/server.ts";
import { toServerEnvironment } from "../../../src/tools/mcp/session/environment.ts";

describe("parseMcpServers", () => {
  it("reads a program and a URL with all defaults", () => {
    const [files, web] = parseMcpServers({
      files: { command: "npx", args: ["-y", "server"], env: { TOKEN: { env: "MY_TOKEN" } } },
      web: { url: "https://mcp.example.com/mcp", headers: { Authorization: "Bearer $KEY" } },
    });
    assert.deepEqual(files, {
      name: "files",
      reach: {
        kind: "stdio",
        command: "npx",
        args: ["-y", "server"],
        env: { TOKEN: ["$", "{MY_TOKEN}"].join("") },
      },
      tools: ["*"],
      timeoutMs: 60_000,
      enabled: true,
    });
    assert.ok(web?.reach.kind === "http");
    assert.equal(web.reach.url, "https://mcp.example.com/mcp");
    assert.equal(web.reach.oauth.enabled, true);
    assert.deepEqual(parseMcpServers(undefined), []);
  });

  const mistakes: readonly (readonly [string, JsonObject, RegExp])[] = [
    [
      "a name with capitals",
      { Files: { command: "x" } },
      /`Files` is not a valid name for an MCP server/,
    ],
    ["two underscores", { a__b: { command: "x" } }, /no two in a row/],
    ["a long name", { ["a".repeat(65)]: { command: "x" } }, /1 to 64/],
    ["no map", { a: "npx server" }, /`a` must be a map with `command` or `url`/],
    ["neither way", { a: {} }, /needs either `command` or `url`/],
    ["both ways", { a: { command: "x", url: "https://x" } }, /needs either/],
    ["an unknown field", { a: { command: "x", arg: [] } }, /`arg`\. Did you mean `args`\?/],
    ["args as text", { a: { command: "x", args: "y" } }, /`args` must be a list of texts/],
    ["an empty command", { a: { command: " " } }, /`command` must be the name or path/],
    ["env with a URL", { a: { url: "https://x", env: {} } }, /`env` goes with `command` alone/],
    ["headers with a command", { a: { command: "x", headers: {} } }, /goes with `url` alone/],
    ["a number in env", { a: { command: "x", env: { A: 1 } } }, /`A` must be a text/],
    [
      "an odd variable",
      { a: { command: "x", env: { "A B": "1" } } },
      /`A B`, which is not a valid name/,
    ],
    ["another scheme", { a: { url: "file:///etc/passwd" } }, /must begin with https:\/\//],
    [
      "a password in a URL",
      { a: { url: "https://u:p@x" } },
      /must not contain a user and password/,
    ],
    ["a time of none", { a: { command: "x", timeout_ms: 0 } }, /from 1 to 3600000/],
    ["a word for a switch", { a: { command: "x", enabled: "yes" } }, /`true` or `false`/],
    ["tools as text", { a: { command: "x", tools: "*" } }, /`tools` must be a list/],
    ["an odd header", { a: { url: "https://x", headers: { "A\n": "1" } } }, /is not a header/],
    ["oauth as text", { a: { url: "https://x", oauth: "yes" } }, /`true`, `false` or a map/],
    ["an oauth port", { a: { url: "https://x", oauth: { port: 70_000 } } }, /1 to 65535/],
  ];
  for (const [what, servers, message] of mistakes) {
    it(`refuses ${what} in one line`, () => {
      assert.throws(() => parseMcpServers(servers), { code: "invalid_request", message });
    });
  }

  it("accepts secrets only by the name of a variable, and shows none", () => {
    const servers = { a: { url: "https://x", headers: { Authorization: "Bearer abcdef" } } };
    assert.throws(
      () => parseMcpServers(servers),
      ({ message }: Error) =>
        /must name an environment variable/.test(message) && !message.includes("abcdef"),
    );
    const oauth = { client_id: "me", client_secret: "hunter22" };
    assert.throws(() => parseMcpServers({ a: { url: "https://x", oauth } }), /"\$NAME"/);
  });

  it("shows an address without its query", () => {
    const [server] = parseMcpServers({ a: { url: "https://x.example/mcp?key=abc" } });
    assert.ok(server);
    assert.equal(toAddress(server), "https://x.example/mcp?…");
  });
});

describe("a server's environment", () => {
  it("replaces variables by their values", () => {
    const env = { A: "1", B: "2" };
    assert.equal(expandVariables(["$A-$", "{B}-$$A-$ x"].join(""), env, "It"), "1-2-$A-$ x");
    assert.throws(() => expandVariables("$NONE", env, "It"), {
      code: "key_missing",
      message: "It needs the environment variable `NONE`.",
    });
  });

  it("has what programs need and what was requested, and no key", () => {
    const env = {
      PATH: "/bin",
      HOME: "/home/me",
      LC_ALL: "C",
      XDG_CACHE_HOME: "/c",
      OPENAI_API_KEY: "k",
      NODE_OPTIONS: "--x",
      LD_PRELOAD: "x.so",
      HTTPS_PROXY: "u:p@x",
    };
    const [server] = parseMcpServers({ a: { command: "x", env: { KEY: "$OPENAI_API_KEY" } } });
    assert.ok(server);
    assert.deepEqual(toServerEnvironment(server, server.reach as StdioReach, env), {
      PATH: "/bin",
      HOME: "/home/me",
      LC_ALL: "C",
      XDG_CACHE_HOME: "/c",
      KEY: "k",
    });
  });

  it("says how many MCP servers of ours are above it", () => {
    const [server] = parseMcpServers({ a: { command: "x" } });
    assert.ok(server);
    const env = { PATH: "/bin", OFFSHOOT_MCP_DEPTH: "2" };
    assert.deepEqual(toServerEnvironment(server, server.reach as StdioReach, env), env);
  });
});
