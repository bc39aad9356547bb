/**
 * Complaints of users of other servers: requests and answers. The numbers are those of docs/server-complaints.md.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import {
  reply,
  respond,
  script,
  startChatUpstream,
  startResponsesUpstream,
} from "../../src/testing/index.ts";
import { checkEvents, checkResponse } from "../conformance/check.ts";
import { createPdf } from "../conformance/pdf.ts";
import { SCRIPTED_NAMES } from "../conformance/provider-servers.ts";
import { createServers, lastOf, modelAt } from "./server-complaints-fixture.ts";
import { startServer } from "./server-fixture.ts";
import { startSocketServer } from "./socket/socket-fixture.ts";

const LOOK = {
  type: "function",
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "string" } } },
};
const PNG_URL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==";

describe("18: providers and clients that leave fields out", () => {
  const message = { type: "message", role: "assistant" };
  const content = [{ type: "output_text", text: "Hello." }];
  const thin = {
    "openai-chat": [
      { choices: [{ delta: { content: "Hel" } }] },
      { choices: [{ delta: { content: "lo." }, finish_reason: "stop" }] },
    ],
    "openai-responses": [
      { type: "response.output_item.added", item: message },
      { type: "response.output_text.delta", delta: "Hello." },
      { type: "response.output_item.done", item: { ...message, content } },
      { type: "response.completed", response: {} },
    ],
  };
  const starts = { "openai-chat": startChatUpstream, "openai-responses": startResponsesUpstream };

  for (const wire of ["openai-chat", "openai-responses"] as const) {
    it(`are answered in full all the same (${wire})`, async (t) => {
      const raw = thin[wire].map((event) => JSON.stringify(event));
      const upstream = await starts[wire]({ engine: respond(() => reply.raw([...raw, "[DONE]"])) });
      t.after(() => upstream.close());
      const server = await startServer(t, script(), modelAt(upstream, wire));
      const events = await server.stream({ input: "Hi" });
      checkEvents(events);
      const made = lastOf(events);
      checkResponse(made);
      assert.equal(made.output_text, "Hello.");
      assert.ok(Number.isInteger(made.created_at));
    });
  }

  it("may send null wherever it may leave out", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const names = [
      ...["instructions", "previous_response_id", "conversation", "metadata", "temperature"],
      ...["top_p", "top_logprobs", "max_output_tokens", "max_tool_calls", "tools", "tool_choice"],
      ...["parallel_tool_calls", "store", "stream", "stream_options", "text", "reasoning"],
      ...["include", "truncation", "user", "service_tier", "background", "prompt", "moderation"],
      ...["safety_identifier", "prompt_cache_key", "context_management", "multi_agent"],
    ];
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    const made = await server.create({ input: "Hi", ...nulls });
    assert.deepEqual([made.status, made.store], ["completed", true]);
    checkResponse(made);
  });

  it("may send an answer's items back with everything that was in them", async (t) => {
    const call = reply.calls([{ name: "look", arguments: {} }], { text: "I look." });
    const server = await startServer(t, script(call, reply.text("Ok.")));
    const asked = { input: "Look.", tools: [LOOK], store: false };
    const { output } = await server.create(asked);
    const results = output.flatMap((item) =>
      item.type === "function_call"
        ? { type: "function_call_output", call_id: item.call_id, output: "A cat.", status: null }
        : [],
    );
    const nulls = { incomplete_details: null, phase: null, agent: null, caller: null };
    const sent = output.map((item) => ({ ...item, ...nulls }));
    const input = [{ role: "user", content: "Look." }, ...sent, ...results];
    assert.equal((await server.create({ ...asked, input })).output_text, "Ok.");
  });
});

describe("20: WebSocket", () => {
  it("makes 20 turns with calls on one connection, each sent with what is new", async (t) => {
    const server = await startSocketServer(
      t,
      respond(() => reply.calls([{ name: "look", arguments: {} }])),
    );
    const socket = await server.connect();
    let input: object[] = [{ role: "user", content: "Look." }];
    let previous_response_id: string | undefined;
    for (let turn = 0; turn < 20; turn++) {
      const more = previous_response_id ? { previous_response_id } : {};
      const events = await socket.turn({ input, tools: [LOOK], store: false, ...more });
      const made = events.at(-1)?.response;
      assert.equal(made?.status, "completed");
      previous_response_id = made.id;
      input = made.output.map(({ call_id }) => ({
        type: "function_call_output",
        call_id,
        output: "A cat.",
      }));
    }
    const body = server.upstream.requests.at(-1)?.body as { messages: unknown[] };
    assert.equal(body.messages.length, 1 + 19 * 2);
  });
});

describe("22: every value of `include`", () => {
  const search = {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "q", sources: [{ type: "url", url: "https://SECRET-1" }] },
    results: [{ title: "SECRET-2" }],
  };
  const found = { file_id: "file_1", filename: "a", score: 1, text: "SECRET-3", attributes: {} };
  const items = [
    { role: "user", content: [{ type: "input_image", image_url: PNG_URL, detail: "auto" }] },
    search,
    { type: "file_search_call", id: "fs_1", status: "completed", queries: ["q"], results: [found] },
    {
      type: "code_interpreter_call",
      id: "ci_1",
      status: "completed",
      code: "1",
      container_id: "cntr_1",
      outputs: [{ type: "logs", logs: "SECRET-4" }],
    },
    {
      type: "computer_call",
      id: "cu_1",
      call_id: "call_1",
      status: "completed",
      pending_safety_checks: [],
      action: { type: "screenshot" },
    },
    {
      type: "computer_call_output",
      call_id: "call_1",
      output: { type: "computer_screenshot", image_url: `${PNG_URL}#SECRET-5` },
    },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "SECRET-6" },
    {
      type: "message",
      role: "assistant",
      id: "msg_1",
      status: "completed",
      content: [
        {
          type: "output_text",
          text: "Hello.",
          annotations: [],
          logprobs: [{ token: "SECRET-7", logprob: -1, bytes: [], top_logprobs: [] }],
        },
      ],
    },
    { role: "user", content: "Go on." },
  ];
  const VALUES = {
    "message.input_image.image_url": /image_url":"data:image\/png;base64,iVBORw0KGgoAAAANSUhEUg=="/,
    "web_search_call.action.sources": /SECRET-1/,
    "web_search_call.results": /SECRET-2/,
    "file_search_call.results": /SECRET-3/,
    "computer_call_output.output.image_url": /SECRET-5/,
    "reasoning.encrypted_content": /SECRET-6/,
    "message.output_text.logprobs": /SECRET-7/,
  };

  for (const [value, sign] of Object.entries(VALUES)) {
    it(`shows what it names, and nothing does without it: ${value}`, async (t) => {
      const server = await startServer(t, script(reply.text("Ok.")));
      const { id } = await server.create({ input: items });
      const path = `/v1/responses/${id}/input_items`;
      const shown = await server.ask("GET", `${path}?include[]=${value}`);
      assert.match(JSON.stringify(shown.body), sign);
      const others = Object.keys(VALUES).filter((name) => name !== value);
      const query = others.map((name) => `include[]=${name}`).join("&");
      const hidden = await server.ask("GET", `${path}?${query}`);
      assert.doesNotMatch(JSON.stringify(hidden.body), sign);
    });
  }

  it("need not name what came of code, which one document of the API shows always", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const { id } = await server.create({ input: items });
    const path = `/v1/responses/${id}/input_items`;
    for (const query of ["", "?include[]=code_interpreter_call.outputs"]) {
      const { body } = await server.ask("GET", `${path}${query}`);
      assert.match(JSON.stringify(body), /SECRET-4/);
    }
  });

  it("holds for the answer itself, streamed, plain and asked for later", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    const include = ["message.output_text.logprobs"];
    const partOf = ({ output: [item] }: EmittedResponse): { logprobs: unknown[] } => {
      assert.ok(item?.type === "message" && typeof item.content !== "string");
      return item.content[0] as unknown as { logprobs: unknown[] };
    };
    for (const store of [true, false]) {
      const asked = { input: "Hi", store };
      assert.ok(partOf(await server.create({ ...asked, include })).logprobs.length > 0);
      const events = await server.stream({ ...asked, include });
      const { logprobs } = partOf(lastOf(events));
      assert.ok(logprobs.length > 0);
      const inPieces = events.flatMap((event) =>
        event.type === "response.output_text.delta" ? event.logprobs : [],
      );
      assert.deepEqual(inPieces, logprobs);
      assert.equal(partOf(await server.create(asked)).logprobs.length, 0);
    }
    const { id } = await server.create({ input: "Hi", top_logprobs: 1 });
    const later = await server.ask("GET", `/v1/responses/${id}?include[]=${include[0]}`);
    assert.ok(partOf(later.body as EmittedResponse).logprobs.length > 0);
  });
});

describe("23: instructions and developer messages", () => {
  const ask = createServers();
  for (const name of SCRIPTED_NAMES) {
    it(`reach the model, alone and together, also in the middle (${name})`, async () => {
      const { server, asked } = await ask(name, () => reply.text("Ok."));
      const developer = (content: string): object => ({ role: "developer", content });
      const user = (content: string): object => ({ role: "user", content });
      await server.create({ instructions: "Rule one.", input: "Hi" });
      await server.create({ input: [developer("Rule two."), user("Hi")] });
      const input = [developer("Rule two."), user("Hi"), developer("Rule three."), user("And?")];
      await server.create({ instructions: "Rule one.", input });
      const told = asked.map(
        (request) => `${request.instructions} ${JSON.stringify(request.items)}`,
      );
      assert.match(told[0] ?? "", /Rule one\./);
      assert.match(told[1] ?? "", /Rule two\./);
      for (const rule of ["one", "two", "three"]) {
        assert.match(told[2] ?? "", new RegExp(`Rule ${rule}\\.`));
      }
      const first = await server.create({ instructions: "Rule one.", input: "Hi" });
      assert.equal(first.instructions, "Rule one.");
      await server.create({ input: "And?", previous_response_id: first.id });
      assert.doesNotMatch(String(asked.at(-1)?.instructions), /Rule one/, "not carried on");
    });
  }
});

describe("25: files and images", () => {
  const ask = createServers();
  const notes = Buffer.from("The colour is blue.").toString("base64");
  const show = (...content: object[]): object => ({ input: [{ role: "user", content }] });

  for (const name of SCRIPTED_NAMES) {
    for (const [how, file_data] of Object.entries({
      "a `data:` URL": `data:text/plain;base64,${notes}`,
      "bare base64": notes,
    })) {
      it(`reach the model, text in ${how} (${name})`, async () => {
        const { server, sent } = await ask(name, reply.text("Ok."));
        const file = { type: "input_file", filename: "notes.txt", file_data };
        await server.create(show({ type: "input_text", text: "Read." }, file));
        const isThere = sent().includes("The colour is blue.") || sent().includes(notes);
        assert.ok(isThere, sent());
      });
    }

    it(`reach the model, a PDF (${name})`, async () => {
      const { server, sent } = await ask(name, reply.text("Ok."));
      const file_data = `data:application/pdf;base64,${createPdf("The colour is blue.")}`;
      const file = { type: "input_file", filename: "notes.pdf", file_data };
      const { status, body } = await server.ask("POST", "/v1/responses", show(file));
      assert.equal(status, 200, JSON.stringify(body));
      assert.match(sent(), /The colour is blue\.|JVBERi0/);
    });

    for (const store of [true, false]) {
      it(`reach the model from an upload (${name}, store ${store})`, async () => {
        const { server, sent } = await ask(name, reply.text("Ok."));
        const form = new FormData();
        form.append("purpose", "user_data");
        form.append("file", new Blob(["The colour is blue."]), "notes.txt");
        const made = await fetch(`${server.url}/v1/files`, { method: "POST", body: form });
        const { id: file_id } = (await made.json()) as { id: string };
        await server.create({ ...show({ type: "input_file", file_id }), store });
        const isThere = sent().includes("The colour is blue.") || sent().includes(notes);
        assert.ok(isThere, sent());
      });
    }

    it(`reach the model, an image in a tool's output (${name})`, async () => {
      const { server, sent } = await ask(name, reply.text("Ok."));
      const image = { type: "input_image", image_url: PNG_URL, detail: "auto" };
      const output = [{ type: "input_text", text: "A cat." }, image];
      await server.create({
        tools: [LOOK],
        input: [
          { role: "user", content: "Look." },
          { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
          { type: "function_call_output", call_id: "call_1", output },
        ],
      });
      assert.match(sent(), /A cat\./);
      assert.match(sent(), /iVBORw0KGgoAAAANSUhEUg==/);
    });
  }
});
