/** The Messages API over HTTP: what its clients send, and the words they act on. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readCosts } from "../../src/delegation/ledger/costs.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, respond, script, startChatUpstream } from "../../src/testing/index.ts";
import { assemble, framesIn } from "../responses/messages/read-stream.ts";
import { ask, type Fields, hears, hi, start } from "./messages-fixture.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

function sentTo({ upstream }: TestServer, at = 0): Fields & { messages: Fields[] } {
  return upstream.requests[at]?.body as unknown as Fields & { messages: Fields[] };
}

describe("a Messages request", () => {
  it("passes with every unknown field and beta", async (t) => {
    const server = await start(t, hi());
    const { status } = await ask(
      server,
      {
        ...hears([{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } }]),
        ...{ new_field_2031: { a: 1 }, betas: ["x"], diagnostics: {}, speed: "fast" },
        ...{ context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } },
        tools: [
          { name: "t", input_schema: { type: "object" }, eager_input_streaming: true, new: 1 },
          { type: "hologram_20310101", name: "hologram" },
        ],
      },
      { headers: { "anthropic-beta": "claude-code-20250219,unheard-of-2031-01-01" } },
    );
    assert.equal(status, 200);
  });

  it("names what of it was left out", async (t) => {
    const server = await start(t, hi());
    const tools = [{ type: "hologram_20310101", name: "hologram" }];
    const { body } = await ask(server, { ...hears("Hi"), tools, speed: "fast" });
    assert.deepEqual(body["offshoot"], { ignored: ["speed", "tools (hologram_20310101)"] });
  });

  it("passes with words and blocks of a newer client, which it names", async (t) => {
    const server = await start(t, hi());
    const { status, text, body } = await ask(server, {
      ...hears("Hi"),
      system: [
        { type: "text", text: "Be brief." },
        { type: "hologram", seed: 1 },
      ],
      thinking: { type: "adaptive" },
      output_config: { effort: "ultra" },
    });
    assert.equal(status, 200, text);
    const { ignored } = body["offshoot"] as { ignored: string[] };
    assert.deepEqual(ignored, ["system[1] (hologram)", "output_config.effort"]);
    const [system] = sentTo(server).messages;
    assert.equal(system?.["content"], "Be brief.");
  });

  it("takes instructions in the middle of the conversation in their place", async (t) => {
    const server = await start(t, hi());
    const messages = [
      { role: "user", content: "Hi" },
      { role: "system", content: "Be brief." },
    ];
    await ask(server, { messages, system: [{ type: "text", text: "You are kind." }] });
    assert.deepEqual(
      sentTo(server).messages.map(({ role }) => role),
      ["system", "user", "system"],
    );
  });

  it("loses its line of attribution, and the name of its user, on the way to other vendors", async (t) => {
    const server = await start(t, hi());
    const system = [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2; cch=12ab;" },
      { type: "text", text: "You are kind." },
    ];
    await ask(server, { ...hears("Hi"), system, metadata: { user_id: "SECRET-USER" } });
    const { text = "" } = server.upstream.requests[0] ?? {};
    assert.doesNotMatch(text, /billing|SECRET-USER/);
    assert.match(text, /You are kind/);
  });

  it("asks for no thinking where it does not name it", async (t) => {
    const server = await start(t, script(reply.reasoning("Hm.", reply.text("Yes."))));
    const { body } = await ask(server, hears("Hi"));
    assert.deepEqual(
      (body["content"] as Fields[]).map(({ type }) => type),
      ["text"],
    );
  });

  it("brings thinking back as the model thought it", async (t) => {
    const deepseek = await startChatUpstream({
      engine: script(reply.reasoning("Hm.", reply.text("Yes.")), reply.text("So.")),
    });
    t.after(() => deepseek.close());
    const usual = {
      model: "deepseek/deepseek-v4-pro",
      provider: null,
      url: deepseek.url,
      api_key_name: null,
    };
    const models = { named: [["m", usual]] as const, usual };
    const server = await start(t, script(), { settings: { models } });
    const thinking = { type: "adaptive" };
    const { body } = await ask(server, { ...hears("Hi"), thinking });
    const [thought] = body["content"] as Fields[];
    assert.equal(thought?.["thinking"], "Hm.");
    assert.match(String(thought?.["signature"]), /^offshoot-/);
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: body["content"] },
      { role: "user", content: "And?" },
    ];
    assert.equal((await ask(server, { messages, thinking })).status, 200);
    const sent = deepseek.requests[1]?.body as unknown as { messages: Fields[] };
    assert.deepEqual(
      sent.messages.map(({ role, reasoning_content }) => [role, reasoning_content]),
      [
        ["user", undefined],
        ["assistant", "Hm."],
        ["user", undefined],
      ],
    );
  });

  it("asks for at most as many tokens as the model can write", async (t) => {
    const server = await start(t, hi());
    const usual = {
      model: "openai/gpt-4o",
      provider: "openai-chat",
      url: server.upstream.url,
      api_key_name: null,
    };
    const limited = await start(t, hi(), {
      settings: { models: { named: [["m", usual]], usual } },
    });
    await ask(limited, { ...hears("Hi"), max_tokens: 64_000 });
    const sent = sentTo(server) as Fields;
    assert.equal(sent["max_completion_tokens"] ?? sent["max_tokens"], 16_384);
  });

  it("offers tools that are deferred once a result has named them", async (t) => {
    const server = await start(t, script(reply.text("a"), reply.text("b")));
    const tools = [
      { name: "find", input_schema: { type: "object" } },
      { name: "late", input_schema: { type: "object" }, defer_loading: true },
    ];
    await ask(server, { ...hears("Hi"), tools });
    const messages = [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_1", name: "find", input: {} }],
      },
      {
        role: "user",
        content: [
          {
            ...{ type: "tool_result", tool_use_id: "toolu_1" },
            content: [{ type: "tool_reference", tool_name: "late" }],
          },
        ],
      },
    ];
    await ask(server, { messages, tools });
    const offered = [0, 1].map((at) =>
      (sentTo(server, at)["tools"] as { function: { name: string } }[]).map(
        (tool) => tool.function.name,
      ),
    );
    assert.deepEqual(offered, [["find"], ["find", "late"]]);
  });

  it("offers the client's own kinds of tools as functions with their published inputs", async (t) => {
    const server = await start(t, hi());
    const tools = [
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      {
        type: "computer_20250124",
        name: "computer",
        display_width_px: 800,
        display_height_px: 600,
      },
      { type: "memory_20250818", name: "memory" },
    ];
    await ask(server, { ...hears("Hi"), tools });
    const offered = sentTo(server)["tools"] as {
      function: { name: string; parameters: { properties: object } };
    }[];
    assert.deepEqual(
      offered.map((tool) => [
        tool.function.name,
        Object.keys(tool.function.parameters.properties)[0],
      ]),
      [
        ["bash", "command"],
        ["str_replace_based_edit_tool", "command"],
        ["computer", "action"],
        ["memory", "command"],
      ],
    );
  });

  it("clears old results before the model reads them, and says so", async (t) => {
    const server = await start(t, hi());
    const turns = [1, 2, 3].flatMap((at) => [
      {
        role: "assistant",
        content: [{ type: "tool_use", id: `toolu_${at}`, name: "t", input: {} }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: `toolu_${at}`, content: `RESULT-${at} `.repeat(50) },
        ],
      },
    ]);
    const edit = {
      ...{ type: "clear_tool_uses_20250919", trigger: { type: "tool_uses", value: 1 } },
      keep: { type: "tool_uses", value: 1 },
    };
    const { body } = await ask(server, {
      messages: [{ role: "user", content: "Hi" }, ...turns],
      tools: [{ name: "t", input_schema: { type: "object" } }],
      context_management: { edits: [edit] },
    });
    const { applied_edits } = body["context_management"] as { applied_edits: Fields[] };
    assert.equal(applied_edits[0]?.["cleared_tool_uses"], 2);
    const { text = "" } = server.upstream.requests[0] ?? {};
    assert.doesNotMatch(text, /RESULT-[12]/);
    assert.match(text, /RESULT-3/);
  });
});

describe("a session of a Messages client", () => {
  it("groups its runs in the record", async (t) => {
    const usage = { input: 100, output: 10 };
    const server = await startServer(
      t,
      respond(() => reply.text("Yes.", { usage })),
    );
    const ids: string[] = [];
    for (const session of ["one", "one", "two"]) {
      const headers = { "x-claude-code-session-id": session };
      const { body } = await ask(server, hears("Hi"), { headers });
      ids.push(toRunId(String(body["id"]).replace("msg_", "resp_")));
    }
    const rows = await readCosts(server.responses.durable.record, ids, "session");
    assert.deepEqual(
      rows.map(({ key, calls }) => [key, calls]),
      [
        ["one", 2],
        ["two", 1],
      ],
    );
    const record = await server.runtime.openRecord();
    const viewer = { tenant: "tenant" };
    const query = new URLSearchParams({ session: "client:one" });
    const { data } = await record.list(viewer, query);
    assert.deepEqual(data.map(({ id }) => id).sort(), ids.slice(0, 2).sort());
  });

  it("is what is stored: other requests leave nothing", async (t) => {
    const server = await start(t, hi());
    const { body } = await ask(server, hears("Hi"));
    const id = String(body["id"]).replace("msg_", "resp_");
    assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 404);
  });
});

describe("a Messages stream", () => {
  it("has no frame of another API, and ends with `message_stop`", async (t) => {
    const server = await start(t, script(reply.text("One two.")));
    const { text, headers } = await ask(server, { ...hears("Hi"), stream: true });
    assert.match(headers.get("content-type") ?? "", /^text\/event-stream/);
    assert.doesNotMatch(text, /\[DONE\]|response\./);
    const { content } = assemble(framesIn(text));
    assert.deepEqual(content, [{ type: "text", text: "One two." }]);
  });
});
