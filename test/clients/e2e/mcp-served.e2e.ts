/**
 * Other projects' MCP clients at both of our transports: the inspector's command line, as a user inspects a
 * server with it, and the client of the SDK's next major version.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { reply, respond } from "../../../src/testing/index.ts";
import { CLI, createPlace, type Place } from "../../e2e/command.ts";
import { serve } from "../../e2e/served.ts";
import { CHAT } from "../../e2e/wires.ts";
import { PATIENCE_MS } from "../../patience.ts";

const INSPECTOR = fileURLToPath(
  new URL(
    "../../../../test/clients/node_modules/@modelcontextprotocol/inspector-cli/build/index.js",
    import.meta.url,
  ),
);
/** It reads the `package.json` of a package of which it is only a part; alone, it has one of its own. */
const HOOK = toModule(
  "export const resolve = (name, context, next) => next(name.replace('../../package', '../package'), context);",
);
const HOOKED = toModule(
  `import { register } from "node:module"; register(${JSON.stringify(HOOK)});`,
);

function toModule(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

const KEY = "osk_test_key_of_the_test_suite";
const RUN_TOOLS = ["run_continue", "run_status", "run_result", "run_cancel"];

const AGENT = `---
name: helper
description: Helps.
tools: []
expose: mcp
---
You help.
`;

/** Where a client finds our agents. */
type Door =
  | {
      readonly kind: "stdio";
      readonly args: readonly string[];
      readonly env: Record<string, string>;
    }
  | { readonly kind: "http"; readonly url: string };

/** The same agents over each transport in turn. */
async function atBothDoors(use: (door: Door) => Promise<void>): Promise<void> {
  const upstream = await CHAT.start({ engine: respond(() => reply.text("Hello.")) });
  const model = { OFFSHOOT_MODEL: "custom/test-model", OFFSHOOT_URL: upstream.url };
  try {
    await using place = await createPlace();
    await writeAgent(place);
    const { home } = place;
    const plain = { PATH: process.env["PATH"] ?? "", HOME: home, OFFSHOOT_PROBE_LOCAL: "false" };
    const args = [CLI, "mcp", "serve", "--agent", "helper", "--root", place.cwd];
    await use({ kind: "stdio", args, env: { ...plain, ...model } });
    await using served = await serve({ place, env: model, key: KEY });
    await use({ kind: "http", url: `${served.url}/mcp` });
  } finally {
    await upstream.close();
  }
}

async function writeAgent({ home }: Place): Promise<void> {
  const folder = join(home, ".config", "offshoot", "agents");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "helper.md"), AGENT);
}

/** The inspector takes every flag for its own, so the command and its flags are in a file. */
async function writeStarter({ args, env }: Extract<Door, { kind: "stdio" }>): Promise<string> {
  const file = join(env["HOME"] ?? "", "start.mjs");
  const start = `import { spawn } from "node:child_process";
spawn(process.execPath, ${JSON.stringify(args)}, { stdio: "inherit" });
`;
  await writeFile(file, start);
  return file;
}

/** One request of the inspector, and its printed answer. */
async function inspect(door: Door, ...asked: string[]): Promise<Record<string, unknown>> {
  const isHttp = door.kind === "http";
  const target = isHttp
    ? [door.url, "--transport", "http", "--header", `Authorization: Bearer ${KEY}`]
    : [process.execPath, await writeStarter(door)];
  const words = ["--import", HOOKED, INSPECTOR, ...target, ...asked];
  const env = isHttp ? process.env : door.env;
  const { stdout } = await promisify(execFile)(process.execPath, words, { env });
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe("the inspector", () => {
  it("lists tools, resources and prompts, and calls an agent, over both transports", async () => {
    await atBothDoors(async (door) => {
      const { tools } = await inspect(door, "--method", "tools/list");
      const names = (tools as { name: string }[]).map(({ name }) => name);
      assert.deepEqual(names, ["agent_helper", ...RUN_TOOLS]);
      const call = ["--method", "tools/call", "--tool-name", "agent_helper"];
      const answer = await inspect(door, ...call, "--tool-arg", "prompt=Hi");
      const { run_id, ending } = answer["structuredContent"] as Record<string, unknown>;
      assert.equal(ending, "completed");
      const { resources } = await inspect(door, "--method", "resources/list");
      assert.match(JSON.stringify(resources), new RegExp(`run://${run_id}`));
      const read = await inspect(door, "--method", "resources/read", "--uri", `run://${run_id}`);
      assert.match(JSON.stringify(read), /Hello\./);
      assert.deepEqual(await inspect(door, "--method", "prompts/list"), { prompts: [] });
    });
  });
});

describe("the client of the SDK's second version", () => {
  it("calls an agent with progress and continues its run, over both transports", async () => {
    await atBothDoors(async (door) => {
      const client = new Client({ name: "second", version: "1" });
      const headers = { authorization: `Bearer ${KEY}` };
      await client.connect(
        door.kind === "http"
          ? new StreamableHTTPClientTransport(new URL(door.url), { requestInit: { headers } })
          : new StdioClientTransport({
              command: process.execPath,
              args: [...door.args],
              env: door.env,
            }),
      );
      try {
        const told: string[] = [];
        const first = await client.callTool(
          { name: "agent_helper", arguments: { prompt: "Hi" } },
          {
            timeout: PATIENCE_MS,
            onprogress: ({ message = "" }) => {
              told.push(message);
            },
          },
        );
        assert.match(JSON.stringify(first.content), /Hello\./);
        assert.match(told[0] ?? "", /^run_/);
        const { run_id } = first.structuredContent as Record<string, unknown>;
        const asked = { name: "run_continue", arguments: { run_id, message: "And?" } };
        const second = await client.callTool(asked, { timeout: PATIENCE_MS });
        assert.match(JSON.stringify(second.content), /Hello\./);
        await assert.rejects(
          client.callTool({ name: "agent_nobody" }),
          /Unknown tool|unknown tool/i,
        );
      } finally {
        await client.close();
      }
    });
  });
});
