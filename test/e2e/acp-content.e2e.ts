/** What `offshoot acp` announces that it takes: pictures, embedded files, links, MCP servers over HTTP and SSE. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type ContentBlock,
  type McpServer,
  methods,
  type ToolCall,
} from "@agentclientprotocol/sdk";
import { reply, respond, script } from "../../src/testing/index.ts";
import { ask, newSession, openEditor, updatesOf, withEditor } from "./acp-editor.ts";
import { startRemoteServer } from "./remote-mcp-server.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("a prompt of an editor", () => {
  it("gives the model its picture, the text of embedded files, and links", async () => {
    const prompt: ContentBlock[] = [
      { type: "text", text: "Compare these." },
      { type: "image", mimeType: "image/png", data: PIXEL },
      {
        type: "resource",
        resource: { uri: "file:///project/a.txt", mimeType: "text/plain", text: "the text of a" },
      },
      {
        type: "resource",
        resource: { uri: "file:///project/b.bin", mimeType: "application/x-b", blob: "AAEC" },
      },
      { type: "resource_link", name: "c.txt", uri: "file:///project/c.txt" },
    ];
    await withEditor(
      respond(() => reply.text("Compared.")),
      async (editor, opening) => {
        const sessionId = await newSession(editor, opening);
        const { stopReason } = await editor.agent.request(methods.agent.session.prompt, {
          ...{ sessionId, prompt },
        });
        assert.equal(stopReason, "end_turn");
        const [asked] = opening.upstream.requests;
        const { messages } = (asked?.body ?? {}) as {
          messages?: { role: string; content: { type: string }[] }[];
        };
        const { content } = messages?.at(-1) ?? assert.fail("no message");
        assert.deepEqual(
          content.map((part) => ("text" in part ? part.text : part)),
          [
            "Compare these.",
            { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
            '<file uri="file:///project/a.txt">\nthe text of a\n</file>',
            '<file uri="file:///project/b.bin">\n(application/x-b, not shown)\n</file>',
            "[c.txt](file:///project/c.txt)",
          ],
        );
      },
    );
  });
});

describe("a session that is loaded again", () => {
  it("shows pictures, diffs, subagents and the use of the window as before", async () => {
    const order = { name: "subagent", arguments: '{"label":"scout","task_prompt":"Look."}' };
    const write = { name: "write", arguments: '{"path":"a.txt","content":"hello"}' };
    const usage = { usage: { input: 400, output: 100 } };
    const engine = script(
      reply.calls([write], usage),
      reply.calls([order], usage),
      reply.text("Found it.", usage),
      reply.text("Done.", usage),
    );
    await withEditor(engine, async (editor, opening) => {
      const { cwd } = opening.place;
      const sessionId = await newSession(editor, opening);
      const prompt: ContentBlock[] = [
        { type: "text", text: "Look" },
        { type: "image", mimeType: "image/png", data: PIXEL },
      ];
      await editor.agent.request(methods.agent.session.prompt, { sessionId, prompt });
      await using second = await openEditor(opening);
      await second.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
      const prompts = updatesOf(second, "user_message_chunk").map(({ content }) => content);
      assert.deepEqual(prompts, prompt);
      const shown = ({ title, kind, content }: ToolCall) => ({ title, kind, content });
      assert.deepEqual(
        updatesOf(second, "tool_call").map((one) => shown(one).title),
        updatesOf(editor, "tool_call").map((one) => shown(one).title),
      );
      const [written] = updatesOf(second, "tool_call");
      assert.deepEqual(
        written && shown(written),
        shown(updatesOf(editor, "tool_call")[0] as ToolCall),
      );
      assert.match(JSON.stringify(updatesOf(second, "tool_call_update").at(-1)), /Found it\./);
      const [use, ...others] = updatesOf(second, "usage_update");
      assert.deepEqual(others, []);
      assert.deepEqual(use, updatesOf(editor, "usage_update").at(-1));
    });
  });
});

describe("an MCP server of an editor", () => {
  for (const type of ["http", "sse"] as const) {
    it(`provides its tools over ${type}, with the headers that the editor names`, async (t) => {
      const remote = await startRemoteServer(t, type);
      const echo = { name: "mcp__remote__echo", arguments: '{"text":"hello"}' };
      await withEditor(
        script(reply.calls([echo]), reply.text("Done.")),
        async (editor, opening) => {
          const headers = [{ name: "x-editor", value: "$HOME" }];
          const server: McpServer = { type, name: "remote", url: remote.url, headers };
          const sessionId = await newSession(editor, opening, [server]);
          assert.equal(remote.editors.size, 0);
          assert.equal(await ask(editor, sessionId, "Use it"), "end_turn");
          assert.match(editor.permissions[0]?.toolCall.title ?? "", /Connect to the MCP server/);
          assert.ok(opening.upstream.requests.at(-1)?.text.includes("You said: hello"));
          // A value from an editor is never read as the name of one of our variables.
          assert.deepEqual([...remote.editors], ["$HOME"]);
        },
      );
    });
  }
});
