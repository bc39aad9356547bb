/**
 * One example for each kind of value that clients and servers of the API send each other, in the spelling of the
 * published API and, where a reference or a server has another one, in that too.
 */

import type { JsonObject } from "../../src/base/json.ts";

const SCHEMA = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const FUNCTION = { type: "function", name: "read", parameters: SCHEMA, strict: true };
const DONE = { status: "completed" };

const calls = (type: string, more: JsonObject): JsonObject => ({
  ...{ type, id: `${type}_1`, call_id: "call_1" },
  ...more,
});

export const ANNOTATIONS: readonly JsonObject[] = [
  { type: "url_citation", url: "https://x.org/a", title: "A", start_index: 3, end_index: 9 },
  { type: "url_citation", url: "https://x.org/a", title: null },
  { type: "file_citation", file_id: "file_1", filename: "a.txt", index: 4 },
  { type: "file_citation", file_id: "file_1", quote: "so it says", start_index: 0, end_index: 2 },
  {
    ...{ type: "container_file_citation", container_id: "cntr_1", file_id: "cfile_1" },
    ...{ filename: "plot.png", start_index: 0, end_index: 1 },
  },
  { type: "file_path", file_id: "file_1", index: 0 },
  { type: "file_path", file_id: "file_1", start_index: 5, end_index: 8 },
];

export const PARTS: readonly JsonObject[] = [
  { type: "input_text", text: "Look.", prompt_cache_breakpoint: { mode: "explicit" } },
  { type: "input_image", image_url: "https://x.org/a.png", detail: "low" },
  { type: "input_image", image_url: "data:image/png;base64,AA==", detail: null },
  { type: "input_image", file_id: "file_1", detail: "original" },
  { type: "input_audio", data: "AA==", format: "ogg" },
  { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
  { type: "input_file", file_id: "file_1" },
  { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
  { type: "input_file", file_url: "https://x.org/a.pdf", detail: "high" },
  { type: "output_text", text: "It says so.", annotations: ANNOTATIONS, logprobs: [] },
  {
    ...{ type: "output_text", text: "Hi" },
    logprobs: [
      {
        ...{ token: "Hi", logprob: -0.5, bytes: [72, 105] },
        top_logprobs: [{ token: "Ho", logprob: -2, bytes: null }],
      },
    ],
  },
  { type: "refusal", refusal: "Not this." },
  { type: "reasoning_text", text: "First the file." },
  { type: "summary_text", text: "Reads the file." },
  { type: "text", text: "Of either side." },
  { type: "output_audio", data: "AA==", transcript: "Hi" },
  { type: "computer_screenshot", image_url: null, file_id: "file_1", detail: "auto" },
  { type: "encrypted_content", encrypted_content: "c2VhbGVk" },
];

export const TOOLS: readonly JsonObject[] = [
  { ...FUNCTION, description: "Reads a file", defer_loading: true, output_schema: null },
  {
    type: "custom",
    name: "sql",
    format: { type: "grammar", syntax: "lark", definition: "s: /x/" },
  },
  { type: "custom", name: "note", description: null, format: { type: "text" } },
  {
    ...{ type: "file_search", vector_store_ids: ["vs_1"], max_num_results: 3 },
    ranking_options: { ranker: "default_2024_08_21", score_threshold: 0.5 },
    filters: { type: "and", filters: [{ type: "eq", key: "year", value: 2024 }] },
  },
  {
    ...{ type: "file_search", vector_store_ids: [], filters: null },
    ranking_options: { ranker: "auto", hybrid_search: { embedding_weight: 1, text_weight: 2 } },
  },
  { type: "computer" },
  {
    ...{ type: "computer_use_preview", display_width: 800, display_height: 600 },
    environment: "linux",
  },
  { type: "web_search", external_web_access: false, filters: { allowed_domains: ["x.org"] } },
  { type: "web_search_2025_08_26", user_location: { type: "approximate", country: "NO" } },
  {
    ...{ type: "web_search_preview", search_context_size: "high" },
    user_location: {
      ...{ type: "approximate", city: "Oslo", region: null, country: "NO" },
      timezone: "Europe/Oslo",
    },
  },
  { type: "web_search_preview_2025_03_11", search_content_types: ["text", "image"] },
  {
    ...{ type: "mcp", server_label: "notes", server_url: "https://x.org/mcp", headers: { A: "b" } },
    ...{ allowed_tools: ["find"], require_approval: "never" },
  },
  {
    ...{ type: "mcp", server_label: "drive", connector_id: "connector_googledrive" },
    allowed_tools: { tool_names: ["find"], read_only: true },
    require_approval: { always: { read_only: false }, never: { tool_names: ["find"] } },
  },
  { type: "code_interpreter", container: "cntr_1" },
  {
    type: "code_interpreter",
    container: { type: "auto", file_ids: ["file_1"], memory_limit: "4g" },
  },
  { type: "programmatic_tool_calling" },
  {
    ...{ type: "image_generation", size: "1024x1536", quality: "medium", background: "opaque" },
    ...{ output_format: "webp", output_compression: 80, partial_images: 2, moderation: "low" },
    ...{ input_fidelity: null, input_image_mask: { file_id: "file_1" }, action: "edit" },
  },
  { type: "local_shell" },
  { type: "shell", environment: { type: "container_reference", container_id: "cntr_1" } },
  { type: "shell", environment: null, allowed_callers: ["direct", "programmatic"] },
  { type: "namespace", name: "disk", description: "Files", tools: [FUNCTION] },
  { type: "tool_search", execution: "client", description: null, parameters: SCHEMA },
  { type: "apply_patch", allowed_callers: null },
];

const TALK: readonly JsonObject[] = [
  { type: "message", role: "user", content: "Hi" },
  { type: "message", role: "system", content: [{ type: "input_text", text: "Be kind." }] },
  { type: "message", role: "developer", content: [], status: null },
  {
    ...{ type: "message", id: "msg_1", role: "assistant", ...DONE, phase: "final_answer" },
    content: [
      { type: "output_text", text: "Hello.", annotations: [], logprobs: [] },
      { type: "refusal", refusal: "No more." },
    ],
  },
  calls("function_call", { name: "read", arguments: '{"path":"a"}', ...DONE }),
  calls("function_call", {
    ...{ name: "read", arguments: '{"pa', status: "incomplete", namespace: "disk" },
    caller: { type: "program", caller_id: "call_0" },
  }),
  { type: "function_call_output", call_id: "call_1", output: '{"lines":3}' },
  calls("function_call_output", { output: [{ type: "input_image", file_id: "file_1" }], ...DONE }),
  calls("custom_tool_call", { name: "sql", input: "select 1", caller: { type: "direct" } }),
  { type: "custom_tool_call_output", call_id: "call_1", output: "1" },
  {
    ...{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Looks." }] },
    ...{ content: [{ type: "reasoning_text", text: "Hm." }], encrypted_content: "c2VhbGVk" },
  },
  { type: "reasoning", summary: [], content: null, encrypted_content: null },
  { type: "item_reference", id: "msg_1" },
  { type: "compaction", id: "cmp_1", encrypted_content: "c2VhbGVk", created_by: "user_1" },
  { type: "compaction_trigger" },
  { type: "additional_tools", role: "developer", tools: [FUNCTION] },
];

const TEAM: readonly JsonObject[] = [
  calls("multi_agent_call", { action: "spawn_agent", arguments: '{"task":"look"}' }),
  calls("multi_agent_call_output", {
    ...{ action: "wait_agent", agent: { agent_name: "/root" } },
    output: [{ type: "output_text", text: "done" }],
  }),
  {
    ...{ type: "agent_message", id: "am_1", author: "/root/a", recipient: "/root" },
    content: [{ type: "encrypted_content", encrypted_content: "c2VhbGVk" }],
  },
];

const HOSTED: readonly JsonObject[] = [
  {
    ...{ type: "file_search_call", id: "fs_1", status: "searching", queries: ["where"] },
    results: [{ file_id: "file_1", filename: "a", score: 0.5, text: "here", attributes: {} }],
  },
  { type: "file_search_call", id: "fs_1", ...DONE, queries: [], results: null },
  { type: "web_search_call", id: "ws_1", ...DONE },
  {
    ...{ type: "web_search_call", id: "ws_1", ...DONE },
    action: { type: "search", query: "oslo", sources: [{ type: "url", url: "https://x.org" }] },
  },
  {
    ...{ type: "web_search_call", id: "ws_2", status: "failed" },
    action: { type: "find_in_page", url: "https://x.org", pattern: "a" },
  },
  calls("computer_call", {
    ...{ action: { type: "click", button: "left", x: 1, y: 2 }, ...DONE },
    pending_safety_checks: [{ id: "sc_1", code: "malicious", message: null }],
  }),
  calls("computer_call", {
    actions: [
      { type: "drag", path: [{ x: 0, y: 0 }], keys: null },
      { type: "scroll", x: 1, y: 1, scroll_x: 0, scroll_y: 9 },
      { type: "keypress", keys: ["CTRL", "A"] },
      { type: "type", text: "hi" },
    ],
  }),
  calls("computer_call_output", {
    output: { type: "computer_screenshot", image_url: "data:image/png;base64,AA==" },
    acknowledged_safety_checks: [{ id: "sc_1" }],
  }),
  {
    ...{ type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1", code: "1+1", ...DONE },
    outputs: [
      { type: "logs", logs: "2" },
      { type: "image", url: "https://x.org/plot.png" },
      { type: "image", image_url: "https://x.org/plot.png" },
      { type: "file", file_id: "cfile_1" },
    ],
  },
  { type: "code_interpreter_call", code: null, outputs: null, status: "interpreting" },
  { type: "image_generation_call", id: "ig_1", result: "AA==", ...DONE, revised_prompt: "A dot" },
  { type: "image_generation_call", id: "ig_1", result: null, status: "generating" },
  calls("tool_search_call", { execution: "client", arguments: { query: "files" }, ...DONE }),
  { type: "tool_search_output", call_id: null, execution: "server", tools: [FUNCTION] },
  calls("program", { code: "await read()", fingerprint: "f" }),
  calls("program_output", { result: "3", status: "incomplete" }),
];

const MCP: readonly JsonObject[] = [
  {
    ...{ type: "mcp_list_tools", id: "mcpl_1", server_label: "notes" },
    tools: [{ name: "find", description: null, input_schema: SCHEMA, annotations: null }],
  },
  { type: "mcp_list_tools", id: "mcpl_1", server_label: "notes", tools: [], error: "gone" },
  {
    ...{ type: "mcp_call", id: "mcp_1", server_label: "notes", name: "find", arguments: "{}" },
    ...{ output: "3 notes", error: null, approval_request_id: "mcpr_1", status: "failed" },
  },
  {
    ...{ type: "mcp_call", id: "mcp_1", server_label: "notes", name: "find", arguments: "{}" },
    error: { type: "mcp_protocol_error", code: -32_000, message: "No." },
  },
  {
    ...{ type: "mcp_approval_request", id: "mcpr_1", server_label: "notes", name: "find" },
    arguments: '{"q":"a"}',
  },
  // Some servers send the object instead of its text.
  {
    ...{ type: "mcp_approval_request", id: "mcpr_1", server_label: "notes", name: "find" },
    arguments: { q: "a" },
  },
  { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: false, reason: "no" },
];

const SHELLS: readonly JsonObject[] = [
  calls("local_shell_call", {
    action: { type: "exec", command: ["ls"], env: { A: "b" }, timeout_ms: null, user: null },
    ...DONE,
  }),
  { type: "local_shell_call_output", id: "lso_1", output: "a.txt", status: null },
  calls("shell_call", {
    action: { commands: ["ls", "pwd"], timeout_ms: 1000, max_output_length: null },
    ...{ environment: { type: "local" }, status: "in_progress" },
  }),
  calls("shell_call_output", {
    output: [
      { stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } },
      { stdout: "", stderr: "", outcome: { type: "timeout" } },
    ],
    max_output_length: 4096,
  }),
  calls("apply_patch_call", {
    operation: { type: "update_file", path: "a", diff: "@@\n-a\n+b" },
    ...DONE,
  }),
  calls("apply_patch_call", { operation: { type: "delete_file", path: "a" }, ...DONE }),
  calls("apply_patch_call_output", { output: null, status: "failed" }),
];

export const ITEMS: readonly JsonObject[] = [...TALK, ...TEAM, ...HOSTED, ...MCP, ...SHELLS];

/** Messages and references as a client may write them: without a type. */
export const EASY_ITEMS: readonly JsonObject[] = [
  { role: "user", content: "Hi" },
  { role: "assistant", content: [{ type: "output_text", text: "Hello." }], phase: null },
  { id: "msg_1" },
  { type: null, id: "msg_1" },
];

export const TEXTS: readonly JsonObject[] = [
  { format: { type: "text" }, verbosity: "low" },
  { format: { type: "json_object" } },
  { format: { type: "json_schema", name: "file", description: "A file", schema: SCHEMA } },
  { format: { type: "json_schema", name: "file", schema: {}, strict: null }, verbosity: null },
  { format: null, of_a_later_version: 1 },
];

export const REASONING: readonly JsonObject[] = [
  { effort: "minimal", summary: "detailed", context: "all_turns", mode: "pro" },
  { effort: null, generate_summary: "concise", encrypted_content: null },
];

export const REQUESTS: readonly JsonObject[] = [
  { conversation: { id: "conv_1" }, of_a_later_version: 1 },
  { conversation: "conv_1", context_management: [{ type: "compaction", compact_threshold: 2000 }] },
  { model: "m", input: [...ITEMS, ...EASY_ITEMS], tools: TOOLS, text: TEXTS[0] ?? null },
  { prompt: { id: "pmpt_1", version: "2", variables: { who: "Ada", what: PARTS[0] ?? null } } },
];

const ANSWER = { id: "resp_1", object: "response", created_at: 1_700_000_000, model: "m" };

export const RESPONSES: readonly JsonObject[] = [
  {
    ...{ ...ANSWER, ...DONE, completed_at: 1_700_000_002, output: ITEMS, output_text: "Hello." },
    ...{ tools: TOOLS, tool_choice: { type: "function", name: "read" }, metadata: { a: "b" } },
    ...{ instructions: [{ role: "developer", content: "Be kind." }], conversation: { id: "c" } },
    usage: {
      ...{ input_tokens: 7, input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 } },
      ...{ output_tokens: 5, output_tokens_details: { reasoning_tokens: 2 }, total_tokens: 12 },
    },
  },
  // A server may write null for what was not asked for.
  {
    ...{ ...ANSWER, created_at: 1_700_000_000.25, status: "queued", output: [], error: null },
    ...{ incomplete_details: null, instructions: null, previous_response_id: null },
    ...{ parallel_tool_calls: null, reasoning: null, reasoning_effort: null, text: null },
    ...{ tool_choice: null, tools: [], truncation: null, temperature: 1, top_p: 1, user: null },
    ...{ max_output_tokens: null, service_tier: null, store: false, metadata: {}, usage: null },
  },
  {
    ...{ ...ANSWER, status: "failed", output: [], of_a_later_version: 1 },
    error: { code: "server_error", message: "Broke.", of_a_later_version: 1 },
  },
  {
    ...{ ...ANSWER, status: "incomplete", output: [] },
    ...{ incomplete_details: { reason: "max_output_tokens" }, tool_choice: "required" },
    usage: { input_tokens: 7, output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 } },
  },
];

export const LISTS: readonly JsonObject[] = [
  { object: "list", data: ITEMS, first_id: "msg_1", last_id: "ao_1", has_more: true },
  { object: "list", data: [], first_id: null, last_id: null, has_more: false },
];
