/** The `@openai/agents` package against the built server: tools, handoffs, output types, sessions, approvals. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  Agent,
  applyPatchTool,
  hostedMcpTool,
  OpenAIConversationsSession,
  OpenAIProvider,
  OpenAIResponsesCompactionSession,
  Runner,
  shellTool,
  tool,
  toolSearchTool,
  withResponsesWebSocketSession,
} from "@openai/agents";
import OpenAI from "openai";
import { WebSocket } from "undici";
import { z } from "zod";
import { reply, respond, script } from "../../../src/testing/index.ts";
import { type ClientBench, KEY, serveScript, TIMEOUT, toolNames } from "./client-fixture.ts";

const model = "gpt-scripted";

const weather = tool({
  name: "weather",
  description: "How warm it is.",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `${city}: 18 degrees`,
});

describe("the agents package", () => {
  it("runs tools until the answer is there", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.reasoning("Ask first.", reply.calls([call("weather", { city: "Paris" })])),
        reply.text("It is 18 degrees."),
      ),
    );
    const agent = new Agent({ name: "Guide", instructions: "Help.", model, tools: [weather] });
    const { finalOutput, newItems } = await openRunner(bench).run(agent, "How warm is Paris?");
    assert.equal(finalOutput, "It is 18 degrees.");
    assert.deepEqual(
      newItems.map(({ type }) => type),
      ["reasoning_item", "tool_call_item", "tool_call_output_item", "message_output_item"],
    );
    assert.deepEqual(
      bench.asked[1]?.messages.map(({ role }) => role),
      ["system", "user", "assistant", "tool"],
    );
    assert.equal(bench.asked[1]?.messages.at(-1)?.content, "Paris: 18 degrees");
  });

  it("has the server search for tools that are loaded late", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.calls([call("tool_search", { paths: ["late_weather"] })]),
        reply.calls([call("late_weather", { city: "Paris" })]),
        reply.text("It is 18 degrees."),
      ),
    );
    const late = { ...weather, name: "late_weather", deferLoading: true };
    const agent = new Agent({ name: "Guide", model: "gpt-5.4", tools: [toolSearchTool(), late] });
    const { finalOutput, newItems } = await openRunner(bench).run(agent, "How warm is Paris?");
    assert.equal(finalOutput, "It is 18 degrees.");
    assert.deepEqual(
      newItems.map(({ type }) => type),
      [
        ...["tool_search_call_item", "tool_search_output_item"],
        ...["tool_call_item", "tool_call_output_item", "message_output_item"],
      ],
    );
    assert.deepEqual(bench.asked.map(toolNames), [
      ["tool_search"],
      ...Array.from({ length: 2 }, () => ["tool_search", "late_weather"]),
    ]);
  });

  it("hands over from one agent to another", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(reply.calls([call("transfer_to_Poet", {})]), reply.text("A rose.")),
    );
    const poet = new Agent({ name: "Poet", instructions: "Write poems.", model });
    const guide = new Agent({ name: "Guide", instructions: "Delegate.", model, handoffs: [poet] });
    const { finalOutput, lastAgent } = await openRunner(bench).run(guide, "A poem, please.");
    assert.equal(finalOutput, "A rose.");
    assert.equal(lastAgent?.name, "Poet");
    assert.equal(bench.asked[1]?.messages[0]?.content, "Write poems.");
  });

  it("returns an answer of the requested type", TIMEOUT, async () => {
    const said = { name: "Tea", people: ["Ada"] };
    await using bench = await serveScript(script(reply.text(JSON.stringify(said))));
    const outputType = z.object({ name: z.string(), people: z.array(z.string()) });
    const agent = new Agent({ name: "Reader", model, outputType });
    const { finalOutput } = await openRunner(bench).run(agent, "Which event?");
    assert.deepEqual(finalOutput, said);
    assert.match(JSON.stringify(bench.asked[0]?.["response_format"]), /^{"type":"json_schema"/);
  });

  it("streams texts and calls", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(reply.calls([call("weather", { city: "Oslo" })]), reply.text("Cold, in short.")),
    );
    const agent = new Agent({ name: "Guide", model, tools: [weather] });
    const stream = await openRunner(bench).run(agent, "How warm is Oslo?", { stream: true });
    const names: string[] = [];
    let text = "";
    for await (const event of stream) {
      if (event.type === "run_item_stream_event") names.push(event.name);
      if (event.type !== "raw_model_stream_event") continue;
      if (event.data.type === "output_text_delta") text += event.data.delta;
    }
    await stream.completed;
    assert.equal(text, "Cold, in short.");
    assert.deepEqual(names, ["tool_called", "tool_output", "message_output_created"]);
    assert.equal(stream.finalOutput, "Cold, in short.");
  });

  it("keeps a session as a conversation of the server", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.calls([call("weather", { city: "Paris" })]),
        reply.text("18 degrees."),
        reply.text("Paris."),
      ),
    );
    const client = openClient(bench);
    const session = new OpenAIConversationsSession({ client });
    const agent = new Agent({ name: "Guide", model, tools: [weather] });
    const runner = openRunner(bench);
    await runner.run(agent, "How warm is Paris?", { session });
    const { finalOutput } = await runner.run(agent, "Where?", { session });
    assert.equal(finalOutput, "Paris.");
    assert.deepEqual(
      bench.asked[2]?.messages.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant", "user"],
    );
    const items = await session.getItems();
    assert.deepEqual(
      items.map((item) => item.type),
      ["message", "function_call", "function_call_result", "message", "message", "message"],
    );
    const id = await session.getSessionId();
    assert.equal((await client.conversations.retrieve(id)).id, id);
    await session.clearSession();
    await assert.rejects(client.conversations.retrieve(id), OpenAI.NotFoundError);
  });

  it("continues a stored response, and a compacted history", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.text("Noted."),
        reply.text("Blue."),
        reply.text("They spoke of blue."),
        reply.text("Still blue."),
      ),
    );
    const agent = new Agent({ name: "Guide", model });
    const runner = openRunner(bench);
    const first = await runner.run(agent, "My colour is blue.");
    const previousResponseId = first.lastResponseId ?? assert.fail();
    const second = await runner.run(agent, "Which?", { previousResponseId });
    assert.equal(second.finalOutput, "Blue.");
    assert.equal(bench.asked[1]?.messages.length, 3);

    const session = new OpenAIResponsesCompactionSession({ client: openClient(bench), model });
    await session.addItems(second.history);
    await session.runCompaction({ force: true });
    const third = await runner.run(agent, "And now?", { session });
    assert.equal(third.finalOutput, "Still blue.");
    assert.match(JSON.stringify(bench.asked[3]?.messages), /They spoke of blue\./);
  });

  it("lets the server call its own tools, and asks before it does", TIMEOUT, async () => {
    await using bench = await serveScript(
      respond(({ items, tools }) => {
        const isTold = items.at(-1)?.type === "function_call_output";
        const [offered] = tools;
        if (isTold || offered?.type !== "function") return reply.text("It says hello.");
        return reply.calls([call(offered.name, { filepath: "note.txt" })]);
      }),
      { args: ["--tools", "bash_read"] },
    );
    await writeFile(join(bench.served.place.cwd, "note.txt"), "hello");
    const asked: string[] = [];
    const mcp = hostedMcpTool({
      serverLabel: "offshoot",
      allowedTools: ["bash_read"],
      requireApproval: "always",
      onApproval: async (_, item) => {
        asked.push("name" in item.rawItem ? item.rawItem.name : item.rawItem.type);
        return { approve: true };
      },
    });
    const agent = new Agent({ name: "Guide", model, tools: [mcp] });
    const { finalOutput } = await openRunner(bench).run(agent, "What does the note say?");
    assert.equal(finalOutput, "It says hello.");
    assert.deepEqual(asked, ["bash_read"]);
    assert.match(JSON.stringify(bench.asked[1]?.messages.at(-1)), /hello/);
  });

  it("runs the commands and patches of the model itself", TIMEOUT, async () => {
    const diff = "@@\n-beta\n+gamma\n";
    await using bench = await serveScript(
      script(
        reply.calls([call("shell", { commands: ["cat notes.txt"] })]),
        reply.calls([call("apply_patch", { type: "update_file", path: "notes.txt", diff })]),
        reply.text("Done."),
      ),
    );
    const done: unknown[] = [];
    const shell = shellTool({
      shell: {
        async run({ commands }) {
          done.push(commands);
          const outcome = { type: "exit" as const, exitCode: 0 };
          return { output: [{ stdout: "beta\n", stderr: "", outcome }] };
        },
      },
    });
    const keep = async (operation: unknown): Promise<void> => void done.push(operation);
    const editor = { createFile: keep, updateFile: keep, deleteFile: keep };
    const agent = new Agent({ name: "Smith", model, tools: [shell, applyPatchTool({ editor })] });
    const { finalOutput } = await openRunner(bench).run(agent, "Change beta to gamma.");
    assert.equal(finalOutput, "Done.");
    assert.deepEqual(toolNames(bench.asked[0] ?? assert.fail()), ["shell", "apply_patch"]);
    assert.deepEqual(done[0], ["cat notes.txt"]);
    assert.deepEqual(done[1], { type: "update_file", path: "notes.txt", diff });
    assert.match(JSON.stringify(bench.asked[1]?.messages.at(-1)), /beta/);
    assert.equal(bench.asked[2]?.messages.at(-1)?.role, "tool");
  });

  it("runs over one WebSocket", TIMEOUT, async (t) => {
    // It needs the runtime's own, which the oldest one that we support does not have.
    const { WebSocket: ours } = globalThis;
    globalThis.WebSocket = ours ?? (WebSocket as unknown as typeof ours);
    t.after(() => {
      globalThis.WebSocket = ours;
    });
    await using bench = await serveScript(
      script(reply.calls([call("weather", { city: "Rome" })]), reply.text("Warm.")),
    );
    const agent = new Agent({ name: "Guide", model, tools: [weather] });
    const answer = await withResponsesWebSocketSession(
      async ({ run }) => (await run(agent, "How warm is Rome?")).finalOutput,
      {
        providerOptions: { openAIClient: openClient(bench) },
        runnerConfig: { tracingDisabled: true },
      },
    );
    assert.equal(answer, "Warm.");
    assert.equal(bench.asked.length, 2);
    const posts = bench.served.lines().filter(({ method }) => method === "POST");
    assert.equal(posts.length, 0);
  });
});

function call(name: string, args: Record<string, string | string[]>) {
  return { name, arguments: args };
}

function openClient({ baseURL }: ClientBench): OpenAI {
  return new OpenAI({ baseURL, apiKey: KEY, maxRetries: 0 });
}

/** Traces would be sent to the vendor. */
function openRunner(bench: ClientBench): Runner {
  const modelProvider = new OpenAIProvider({ openAIClient: openClient(bench) });
  return new Runner({ modelProvider, tracingDisabled: true });
}
