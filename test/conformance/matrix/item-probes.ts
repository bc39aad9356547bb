/** Every kind of item in a conversation, each with words that are recognized where they arrive. */

import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { type Reply, reply } from "../../../src/testing/index.ts";
import { tool } from "./parameter-probes.ts";
import type { Probe, World } from "./probe.ts";
import { ARRIVED, between, isRead, MARK } from "./words.ts";

const said = (role: string): Probe => ({
  body: between({ type: "message", role, content: MARK }),
  name: /input\[1\]/,
  sent: ARRIVED,
  shown: isRead("yes"),
});

/** Items of tools: sent unchanged to a vendor that supports them, as functions to the others. */
const made = (type: string, ...items: readonly JsonObject[]): Probe => ({
  body: between(...items),
  name: new RegExp(`input\\[1\\]|${type}`),
  sent: new RegExp(`"type":"${type}"`),
  bridged: ARRIVED,
  shown: isRead("bridged"),
});

const CALL = { call_id: "call_1", status: "completed" };
const PICTURE = "data:image/png;base64,iVBORw0KGgo=";

const clients: Readonly<Record<string, Probe>> = {
  "message (user)": said("user"),
  "message (system)": said("system"),
  "message (developer)": said("developer"),
  "message (assistant)": said("assistant"),
  "function_call, function_call_output": {
    body: between(
      { type: "function_call", ...CALL, name: "alpha", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: MARK },
    ),
    name: /input\[[12]\]/,
    sent: ARRIVED,
    shown: isRead("yes"),
  },
  "function_call_output (parts)": {
    body: between(
      { type: "function_call", ...CALL, name: "alpha", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "call_1",
        output: [
          { type: "input_text", text: MARK },
          { type: "input_image", image_url: PICTURE, detail: "auto" },
        ],
      },
    ),
    name: /input\[[12]\]/,
    sent: ARRIVED,
    shown: isRead("yes"),
  },
  "custom_tool_call, custom_tool_call_output": made(
    "custom_tool_call",
    { type: "custom_tool_call", call_id: "call_1", name: "sql", input: "select" },
    { type: "custom_tool_call_output", call_id: "call_1", output: MARK },
  ),
  "local_shell_call, local_shell_call_output": made(
    "local_shell_call",
    {
      type: "local_shell_call",
      id: "lsh_1",
      ...CALL,
      action: { type: "exec", command: ["ls"], env: {} },
    },
    { type: "local_shell_call_output", id: "lsh_1", call_id: "call_1", output: MARK },
  ),
  "shell_call, shell_call_output": made(
    "shell_call",
    { type: "shell_call", id: "sh_1", ...CALL, action: { commands: ["ls"] } },
    {
      type: "shell_call_output",
      call_id: "call_1",
      output: [{ stdout: MARK, stderr: "", outcome: { type: "exit", exit_code: 0 } }],
    },
  ),
  "apply_patch_call, apply_patch_call_output": made(
    "apply_patch_call",
    {
      type: "apply_patch_call",
      id: "apc_1",
      ...CALL,
      operation: { type: "delete_file", path: "a.txt" },
    },
    { type: "apply_patch_call_output", call_id: "call_1", status: "completed", output: MARK },
  ),
  "computer_call, computer_call_output": made(
    "computer_call",
    {
      type: "computer_call",
      id: "cu_1",
      ...CALL,
      pending_safety_checks: [],
      action: { type: "type", text: MARK },
    },
    {
      type: "computer_call_output",
      call_id: "call_1",
      output: { type: "computer_screenshot", image_url: PICTURE },
    },
  ),
  "tool_search_call, tool_search_output": made(
    "tool_search_call",
    {
      type: "tool_search_call",
      id: "tsc_1",
      ...CALL,
      execution: "client",
      arguments: { query: MARK },
    },
    {
      type: "tool_search_output",
      id: "tso_1",
      ...CALL,
      execution: "client",
      tools: [tool("found_tool")],
    },
  ),
  "program, program_output": made(
    "program",
    { type: "program", id: "prg_1", call_id: "call_1", code: "1", fingerprint: "f" },
    { type: "program_output", id: "pro_1", call_id: "call_1", result: MARK, status: "completed" },
  ),
};

const hosted: Readonly<Record<string, Probe>> = {
  web_search_call: made("web_search_call", {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: MARK },
  }),
  file_search_call: made("file_search_call", {
    type: "file_search_call",
    id: "fs_1",
    status: "completed",
    queries: [MARK],
    results: [{ file_id: "file_1", filename: "a", score: 1, text: MARK, attributes: {} }],
  }),
  code_interpreter_call: made("code_interpreter_call", {
    type: "code_interpreter_call",
    id: "ci_1",
    status: "completed",
    code: "print()",
    container_id: "cntr_1",
    outputs: [{ type: "logs", logs: MARK }],
  }),
  image_generation_call: made("image_generation_call", {
    type: "image_generation_call",
    id: "ig_1",
    status: "completed",
    result: "iVBORw0KGgo=",
    revised_prompt: MARK,
  }),
  mcp_call: made("mcp_call", {
    type: "mcp_call",
    id: "mcp_1",
    server_label: "files",
    name: "read",
    arguments: "{}",
    output: MARK,
    error: null,
  }),
  mcp_list_tools: {
    body: between({
      type: "mcp_list_tools",
      id: "mcpl_1",
      server_label: "files",
      tools: [{ name: "read", description: MARK, input_schema: { type: "object" } }],
    }),
    name: /mcp_list_tools/,
    sent: /"type":"mcp_list_tools"/,
    // Read by the server only: models are offered the tools themselves.
    shown: ({ status }) => status === "completed",
  },
  "mcp_approval_request, mcp_approval_response": {
    body: approve,
    answer: readNotes,
    name: /mcp_approval/,
    shown: ({ output }) =>
      output.some((item) => item.type === "mcp_call" && (item.output?.includes("blue") ?? false)),
  },
};

const OWN = {
  type: "mcp",
  server_label: "offshoot",
  require_approval: "always",
  allowed_tools: ["bash_read"],
};

/** In words that the embedded model understands. */
const TO_READ = "call offshoot__bash_read with filepath=notes.txt";

async function approve({ server, script }: World): Promise<JsonObject> {
  script(readNotes);
  const first = await server.create({ input: TO_READ, tools: [OWN] });
  const asked = first.output.find(({ type }) => type === "mcp_approval_request");
  const id = asked && "id" in asked ? String(asked.id) : "";
  return {
    tools: [OWN],
    previous_response_id: first.id,
    input: [{ type: "mcp_approval_response", approval_request_id: id, approve: true }],
  };
}

function readNotes({ tools, items }: ModelRequest): Reply {
  if (items.some(({ type }: Item) => type === "function_call_output")) return reply.text("Blue.");
  const names = tools.flatMap((one) => (one.type === "function" ? one.name : []));
  const name = names.find((one) => one.includes("bash_read")) ?? "";
  return reply.calls([{ name, arguments: { filepath: "notes.txt" } }]);
}

const context: Readonly<Record<string, Probe>> = {
  "reasoning (of the same vendor)": {
    async body({ server, script }) {
      script(() => reply.reasoning(MARK, reply.text("Yes.")));
      const asked = { input: "Hello", reasoning: { effort: "high", summary: "detailed" } };
      const include = ["reasoning.encrypted_content"];
      const { output } = await server.create({ ...asked, include });
      return between(...(output as unknown as JsonObject[]));
    },
    name: /reasoning/,
    sent: /zebra zebra|"(signature|thoughtSignature|encrypted_content)":"/,
    shown: isRead("yes"),
  },
  "reasoning (of another)": {
    body: between({
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: MARK }],
    }),
    name: /reasoning|input\[1\]/,
    sent: ARRIVED,
    shown: isRead("yes"),
  },
  item_reference: {
    async body({ server, script }) {
      script(() => reply.text(MARK));
      const { output } = await server.create({ input: `Say: ${MARK}` });
      const [item] = output;
      return between({ type: "item_reference", id: item && "id" in item ? String(item.id) : "" });
    },
    name: /item_reference/,
    sent: ARRIVED,
    shown: isRead("yes"),
  },
  additional_tools: {
    body: {
      input: [
        { type: "additional_tools", role: "developer", tools: [tool("later_tool")] },
        { role: "user", content: "call later_tool" },
      ],
    },
    name: /additional_tools/,
    sent: /"name":"later_tool"/,
    shown: ({ output }) => output.some(({ type }) => type === "function_call"),
  },
  compaction: {
    async body({ server, script }) {
      script(() => reply.text(MARK));
      const { model } = await server.create({ input: "Hi", store: false });
      const asked = { model, input: [{ role: "user", content: MARK }] };
      const { body } = await server.ask("POST", "/v1/responses/compact", asked);
      const { output } = body as { output: JsonObject[] };
      return { input: [...output, { role: "user", content: "Go on." }] };
    },
    name: /compaction/,
    sent: ARRIVED,
    shown: isRead("yes"),
  },
  compaction_trigger: {
    body: { input: [{ role: "user", content: MARK }, { type: "compaction_trigger" }] },
    answer: () => reply.text("In short."),
    name: /compaction_trigger/,
    shown: ({ output }) => output.map(({ type }) => type).join() === "compaction",
  },
  "multi_agent_call, multi_agent_call_output": made(
    "multi_agent_call",
    {
      type: "multi_agent_call",
      id: "mac_1",
      call_id: "call_1",
      action: "spawn_agent",
      arguments: "{}",
    },
    {
      type: "multi_agent_call_output",
      id: "maco_1",
      call_id: "call_1",
      action: "spawn_agent",
      output: [{ type: "output_text", text: MARK, annotations: [] }],
    },
  ),
  agent_message: made("agent_message", {
    type: "agent_message",
    id: "amsg_1",
    author: "/root/a",
    recipient: "/root",
    content: [{ type: "input_text", text: MARK }],
  }),
  "an unknown kind": {
    body: between({ type: "zebra_item", id: "item_1", text: MARK }),
    name: /zebra_item|input\[1\]/,
    sent: /zebra_item/,
  },
};

export const ITEM_PROBES = { ...clients, ...hosted, ...context };
