/** Built-in kinds of tools that a real MCP server implements, through the built command. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reply, script, startChatUpstream } from "../../src/testing/index.ts";
import { createPlace } from "./command.ts";
import { serve } from "./served.ts";

const SDK = new URL("../../../node_modules/@modelcontextprotocol/sdk/dist/esm/", import.meta.url);
const ZOD = new URL("../../../node_modules/zod/index.js", import.meta.url);

const PICTURE = "iVBORw0KGgo=";

/** A server of four tools, each of which returns its arguments; one returns a picture. */
const SERVER = `
import { McpServer } from ${JSON.stringify(new URL("server/mcp.js", SDK).href)};
import { StdioServerTransport } from ${JSON.stringify(new URL("server/stdio.js", SDK).href)};
import { z } from ${JSON.stringify(ZOD.href)};
const server = new McpServer({ name: "stand-in", version: "1.0.0" });
const say = (name, field, more) => server.registerTool(name, { description: name, inputSchema: { [field]: z.string() } },
  async (given) => ({ content: [{ type: "text", text: name + " was asked: " + given[field] }, ...(more ?? [])] }));
say("search", "q");
say("look", "words");
say("run", "source");
say("shell", "line");
say("draw", "prompt", [{ type: "image", data: ${JSON.stringify(PICTURE)}, mimeType: "image/png" }]);
server.registerTool("work", { description: "work", inputSchema: { actions: z.array(z.looseObject({ type: z.string() })) } },
  async () => ({ content: [{ type: "image", data: ${JSON.stringify(PICTURE)}, mimeType: "image/png" }] }));
await server.connect(new StdioServerTransport());
`;

const BACKING = {
  web_search: "stand_in/search",
  file_search: "stand_in/look",
  code_interpreter: { tool: "stand_in/run", arguments: { code: "source" } },
  image_generation: "stand_in/draw",
  shell: "stand_in/shell",
  local_shell: "stand_in/shell",
  apply_patch: { tool: "stand_in/shell", arguments: { diff: "line" } },
  computer: { tool: "stand_in/work", arguments: { actions: "actions" } },
};

const ASKED = [
  {
    tool: { type: "web_search" },
    item: "web_search_call",
    given: { query: "foxes" },
    said: "search was asked: foxes",
  },
  {
    tool: { type: "file_search", vector_store_ids: ["of_somebody_else"] },
    item: "file_search_call",
    given: { queries: ["foxes"] },
    said: "look was asked: foxes",
  },
  {
    tool: { type: "code_interpreter", container: { type: "auto" } },
    item: "code_interpreter_call",
    given: { code: "print(1)" },
    said: "run was asked: print(1)",
  },
  {
    tool: { type: "image_generation" },
    item: "image_generation_call",
    given: { prompt: "a fox" },
    said: "picture",
  },
  {
    tool: { type: "shell" },
    item: "shell_call",
    given: { commands: ["ls", "pwd"] },
    said: "shell was asked: ls",
  },
  {
    tool: { type: "local_shell" },
    item: "local_shell_call",
    given: { command: ["bash", "-lc", "ls -l"] },
    said: "shell was asked: ls -l",
  },
  {
    tool: { type: "apply_patch" },
    item: "apply_patch_call",
    given: { type: "update_file", path: "a.txt", diff: "@@ one" },
    said: "shell was asked: @@ one",
  },
  {
    tool: {
      type: "computer_use_preview",
      display_width: 100,
      display_height: 100,
      environment: "browser",
    },
    name: "computer",
    item: "computer_call",
    given: { actions: [{ type: "screenshot" }] },
    said: PICTURE,
  },
] as const;

describe("a kind of tool with an MCP server as its implementation", () => {
  for (const { tool, item, given, said, ...more } of ASKED) {
    it(`answers ${tool.type} with that server's result`, async (t) => {
      const calls = reply.calls([
        { name: "name" in more ? more.name : tool.type, arguments: given },
      ]);
      const upstream = await startChatUpstream({ engine: script(calls, reply.text("Done.")) });
      t.after(() => upstream.close());
      await using place = await createPlace();
      const program = join(place.home, "stand-in.mjs");
      await writeFile(program, SERVER);
      const mcp_servers = { stand_in: { command: process.execPath, args: [program] } };
      const env = {
        OFFSHOOT_MCP_SERVERS: JSON.stringify(mcp_servers),
        OFFSHOOT_SERVER_BACKING: JSON.stringify(BACKING),
      };
      const args = ["-m", "custom/scripted", "--provider", "openai-chat", "--url", upstream.url];
      await using served = await serve({ place, args, env });
      const made = await served.create({ input: "Go.", tools: [tool] });
      assert.equal(made.output_text, "Done.", JSON.stringify(made));
      const call = made.output.find(({ type }) => type === item);
      assert.equal(call && "status" in call ? call.status : undefined, "completed");
      if (call?.type === "image_generation_call") assert.equal(call.result, PICTURE);
      const asked = JSON.stringify(upstream.requests.at(-1)?.body);
      assert.ok(asked.includes(said), asked);
    });
  }
});
