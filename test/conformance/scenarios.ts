/**
 * Answers of every form, as data: the client's request, the model's answer, and the result. Every proof
 * over "all scenarios" goes through this list.
 */

import type { JsonObject } from "../../src/base/json.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { type Reply, reply } from "../../src/testing/index.ts";
import type { TestServer } from "../server/server-fixture.ts";
import { nativeMessage } from "./native-reply.ts";
import { makeStore, OWN_SERVER } from "./scenario-server.ts";
import { callOf, hasResult } from "./scripted-calls.ts";

export interface Scenario {
  readonly name: string;
  readonly body: object;
  /** Creates the objects that the request names, and returns the fields that name them. */
  readonly prepare?: (server: TestServer) => Promise<object>;
  /** The model's answer to one request; it may be asked several times for one response. */
  readonly answer: (request: ModelRequest) => Reply;
  readonly status: "completed" | "incomplete" | "failed";
  /** The types of the answer's items; undefined if the amount of output depends on the network. */
  readonly items: readonly string[] | undefined;
  /** The items of an answer by a model whose vendor supports the tool itself. */
  readonly native?: readonly JsonObject[];
}

/** The body of the request to a server. */
export async function bodyOf({ body, prepare }: Scenario, server: TestServer): Promise<object> {
  return { ...body, ...(await prepare?.(server)) };
}

const WEATHER = {
  ...{ type: "function", name: "weather", description: "The weather of a city." },
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};

/** A tool without optional fields: no description, no parameters, not strict. */
const BARE = { type: "function", name: "now" };

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "text",
    body: { input: "Hi" },
    answer: () => reply.text("Grüße, Welt! 👋 How are you?"),
    ...{ status: "completed", items: ["message"] },
  },
  {
    name: "thinking",
    body: { input: "Think.", reasoning: { effort: "high", summary: "detailed" } },
    answer: () => reply.reasoning("First this, then that.", reply.text("Done.")),
    ...{ status: "completed", items: ["reasoning", "message"] },
  },
  {
    name: "a function call",
    body: { input: "Oslo?", tools: [WEATHER, BARE] },
    answer: () => reply.calls([{ name: "weather", arguments: { city: "Oslo" } }]),
    ...{ status: "completed", items: ["function_call"] },
  },
  {
    name: "two parallel calls, after text",
    body: { input: "Oslo and Köln?", tools: [WEATHER] },
    answer: () =>
      reply.calls(
        [
          { name: "weather", arguments: { city: "Oslo" } },
          { name: "weather", arguments: { city: "Köln" } },
        ],
        { text: "Both." },
      ),
    ...{ status: "completed", items: ["message", "function_call", "function_call"] },
  },
  {
    name: "thinking before a call",
    body: {
      ...{ input: "Oslo?", tools: [WEATHER], reasoning: { effort: "high", summary: "auto" } },
      include: ["reasoning.encrypted_content"],
    },
    answer: () =>
      reply.reasoning("Hm.", reply.calls([{ name: "weather", arguments: { city: "Oslo" } }])),
    ...{ status: "completed", items: ["reasoning", "function_call"] },
  },
  {
    name: "a schema",
    body: {
      input: "A number.",
      text: {
        format: {
          ...{ type: "json_schema", name: "number", strict: true },
          schema: {
            type: "object",
            properties: { a: { type: "number" } },
            required: ["a"],
            additionalProperties: false,
          },
        },
      },
    },
    answer: () => reply.text('{"a":1}'),
    ...{ status: "completed", items: ["message"] },
  },
  {
    name: "every parameter that is echoed",
    body: {
      ...{ input: "Hi", instructions: "Be brief.", temperature: 0.5, top_p: 0.9 },
      ...{ max_output_tokens: 100, max_tool_calls: 3, truncation: "auto", user: "me" },
      ...{ metadata: { a: "b" }, service_tier: "flex", safety_identifier: "s" },
      ...{ prompt_cache_key: "k", parallel_tool_calls: false, tools: [WEATHER] },
      ...{ tool_choice: { type: "function", name: "weather" }, text: { verbosity: "low" } },
    },
    answer: () => reply.calls([{ name: "weather", arguments: { city: "Oslo" } }]),
    ...{ status: "completed", items: ["function_call"] },
  },
  {
    name: "an answer that the limit cuts",
    body: { input: "A tale.", max_output_tokens: 16 },
    answer: () => reply.length("Once upon a"),
    ...{ status: "incomplete", items: ["message"] },
  },
  {
    // After a call, because a failure before any output is an HTTP error.
    name: "an answer that breaks off",
    body: { input: "Read the notes.", tools: [OWN_SERVER] },
    answer: (request) =>
      hasResult(request)
        ? reply.failure("The model has gone.", { text: "I was about to" })
        : reply.calls([callOf(request, "bash_read", { filepath: "notes.txt" })]),
    ...{ status: "failed", items: undefined },
  },
  {
    name: "a call in free text",
    body: { input: "All users.", tools: [{ type: "custom", name: "sql" }] },
    answer: (request) => reply.calls([callOf(request, "sql", { input: "select *" })]),
    ...{ status: "completed", items: ["custom_tool_call"] },
    native: [
      {
        ...{ type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "sql" },
        ...{ input: "select *", status: "completed" },
      },
    ],
  },
  {
    name: "a call that the server makes",
    body: { input: "Read the notes.", tools: [OWN_SERVER] },
    answer: (request) =>
      hasResult(request)
        ? reply.text("It is blue.")
        : reply.calls([callOf(request, "bash_read", { filepath: "notes.txt" })]),
    ...{ status: "completed", items: ["mcp_list_tools", "mcp_call", "message"] },
  },
  {
    name: "a call that the server makes and that fails",
    body: { input: "Read the notes.", tools: [OWN_SERVER] },
    answer: (request) =>
      hasResult(request)
        ? reply.text("There are none.")
        : reply.calls([callOf(request, "bash_read", { filepath: "nothing.txt" })]),
    ...{ status: "completed", items: ["mcp_list_tools", "mcp_call", "message"] },
  },
  {
    name: "a call that waits for a person",
    body: {
      input: "Read the notes.",
      tools: [{ ...OWN_SERVER, require_approval: "always" }],
    },
    answer: (request) => reply.calls([callOf(request, "bash_read", { filepath: "notes.txt" })]),
    ...{ status: "completed", items: ["mcp_list_tools", "mcp_approval_request"] },
  },
  {
    name: "a local shell",
    body: { input: "List.", tools: [{ type: "local_shell" }] },
    answer: (request) => reply.calls([callOf(request, "shell", { command: ["ls"] })]),
    ...{ status: "completed", items: ["local_shell_call"] },
    native: [
      {
        ...{ type: "local_shell_call", id: "lsh_1", call_id: "call_1", status: "completed" },
        action: { type: "exec", command: ["ls"], env: {} },
      },
    ],
  },
  {
    name: "a shell that the client runs",
    body: { input: "List.", tools: [{ type: "shell", environment: { type: "local" } }] },
    answer: (request) => reply.calls([callOf(request, "shell", { commands: ["ls", "pwd"] })]),
    ...{ status: "completed", items: ["shell_call"] },
  },
  {
    name: "a search of the web",
    body: { input: "News?", tools: [{ type: "web_search" }], include: ["web_search_call.results"] },
    answer: (request) =>
      hasResult(request)
        ? reply.text("Nothing new.")
        : reply.calls([callOf(request, "web_search", { query: "news" })]),
    ...{ status: "completed", items: ["web_search_call", "message"] },
    native: [
      {
        ...{ type: "web_search_call", id: "ws_1", status: "completed" },
        action: { type: "search", query: "news", queries: ["news"] },
      },
      nativeMessage("Nothing new."),
    ],
  },
  {
    name: "a search of files",
    prepare: makeStore,
    body: { input: "The colour?", include: ["file_search_call.results"] },
    answer: (request) =>
      hasResult(request)
        ? reply.text("Blue.")
        : reply.calls([callOf(request, "file_search", { query: "colour", queries: ["colour"] })]),
    ...{ status: "completed", items: ["file_search_call", "message"] },
  },
  {
    name: "a patch for the client",
    body: { input: "Delete a.txt.", tools: [{ type: "apply_patch" }] },
    answer: (request) =>
      reply.calls([callOf(request, "apply_patch", { type: "delete_file", path: "a.txt" })]),
    ...{ status: "completed", items: ["apply_patch_call"] },
    native: [
      {
        ...{ type: "apply_patch_call", id: "apc_1", call_id: "call_1", status: "completed" },
        operation: { type: "delete_file", path: "a.txt" },
      },
    ],
  },
  {
    name: "a click for the client",
    body: {
      input: "Click.",
      tools: [
        {
          ...{ type: "computer_use_preview", environment: "browser" },
          ...{ display_width: 1024, display_height: 768 },
        },
      ],
      truncation: "auto",
    },
    answer: (request) =>
      reply.calls([callOf(request, "computer", { type: "click", button: "left", x: 1, y: 2 })]),
    ...{ status: "completed", items: ["computer_call"] },
    native: [
      {
        ...{ type: "computer_call", id: "cu_1", call_id: "call_1", status: "completed" },
        ...{ action: { type: "click", button: "left", x: 1, y: 2 }, pending_safety_checks: [] },
      },
    ],
  },
  {
    name: "a tool of a namespace",
    body: {
      input: "Oslo?",
      tools: [{ type: "namespace", name: "sky", description: "The sky.", tools: [WEATHER] }],
    },
    answer: (request) => reply.calls([callOf(request, "weather", { city: "Oslo" })]),
    ...{ status: "completed", items: ["function_call"] },
    native: [
      {
        ...{ type: "function_call", id: "fc_1", call_id: "call_1", status: "completed" },
        ...{ name: "weather", namespace: "sky", arguments: '{"city":"Oslo"}' },
      },
    ],
  },
  {
    name: "a tool that is looked for first",
    body: {
      input: "Oslo?",
      tools: [{ type: "tool_search" }, { ...WEATHER, defer_loading: true }],
    },
    answer: (request) =>
      hasResult(request)
        ? reply.calls([callOf(request, "weather", { city: "Oslo" })])
        : reply.calls([callOf(request, "tool_search", { query: "weather" })]),
    ...{
      status: "completed",
      items: ["tool_search_call", "tool_search_output", "function_call"],
    },
    native: [
      {
        ...{ type: "tool_search_call", id: "tsc_1", call_id: null, execution: "server" },
        ...{ arguments: { paths: ["weather"] }, status: "completed" },
      },
      {
        ...{ type: "tool_search_output", id: "tso_1", call_id: null, execution: "server" },
        ...{ tools: [WEATHER], status: "completed" },
      },
      {
        ...{ type: "function_call", id: "fc_1", call_id: "call_1", status: "completed" },
        ...{ name: "weather", arguments: '{"city":"Oslo"}' },
      },
    ],
  },
  {
    name: "commands in a container",
    body: {
      input: "Say hello.",
      tools: [{ type: "shell", environment: { type: "container_auto" } }],
    },
    answer: (request) =>
      hasResult(request)
        ? reply.text("Said.")
        : reply.calls([callOf(request, "shell", { commands: ["echo hello", "exit 3"] })]),
    ...{ status: "completed", items: ["shell_call", "shell_call_output", "message"] },
  },
  {
    name: "a picture",
    body: { input: "Draw.", tools: [{ type: "image_generation", partial_images: 1 }] },
    answer: (request) =>
      hasResult(request)
        ? reply.text("Drawn.")
        : reply.calls([callOf(request, "image_generation", { prompt: "A dot." })]),
    ...{ status: "completed", items: ["image_generation_call", "message"] },
    native: [
      {
        ...{ type: "image_generation_call", id: "ig_1", status: "completed" },
        ...{ result: "iVBORw0KGgo=", revised_prompt: "A dot." },
      },
      nativeMessage("Drawn."),
    ],
  },
  {
    name: "an agent beside another",
    body: { input: "Split it.", multi_agent: { enabled: true } },
    answer: splitTask,
    // The two may answer in either order.
    ...{ status: "completed", items: undefined },
  },
  {
    name: "likely words",
    body: { input: "Hi", top_logprobs: 2, include: ["message.output_text.logprobs"] },
    answer: () => reply.text("Hello there."),
    ...{ status: "completed", items: ["message"] },
  },
  {
    name: "a conversation that is made short on the way",
    body: {
      input: `${"many words ".repeat(700)} and a question`,
      context_management: [{ type: "compaction", compact_threshold: 1000 }],
    },
    answer: () => reply.text("In short."),
    ...{ status: "completed", items: undefined },
  },
  {
    name: "a conversation in short",
    body: {
      input: [{ role: "user", content: "Remember blue." }, { type: "compaction_trigger" }],
    },
    answer: () => reply.text("It is blue."),
    ...{ status: "completed", items: ["compaction"] },
  },
];

/** The first agent starts another one, waits for it and answers; the other one answers at once. */
function splitTask(request: ModelRequest): Reply {
  if (!JSON.stringify(request.items).includes("Split it.")) return reply.text("My part is done.");
  const results = request.items.filter(({ type }) => type === "function_call_output").length;
  if (results === 0) {
    const task = { task_name: "part", message: "Do your part." };
    return reply.calls([callOf(request, "spawn_agent", task)]);
  }
  return results === 1 ? reply.calls([callOf(request, "wait_agent", {})]) : reply.text("Done.");
}
