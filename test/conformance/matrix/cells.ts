/**
 * What every provider does with everything that a request may contain: the table of `docs/matrix.md`.
 * `matrix.e2e.ts` sends each of it through a whole server and compares the result with this.
 */

export const CELLS = {
  yes: "done: by the provider in its own words, or by the server itself",
  bridged: "done: the model gets it in words that it knows, and what it answers is turned back",
  reported: "left out, and named in the answer's `offshoot.ignored`",
  unread: "left out: only the vendor that made it can read it",
  refused: "refused with a 400 that names it",
  none: "the API, or the model, has nothing of the kind",
} as const;

export type Cell = keyof typeof CELLS;

export const COLUMNS = [
  "embedded",
  "chat",
  "responses",
  "messages",
  "gemini",
  "cohere",
  "ollama",
  "bedrock",
  "openrouter",
] as const;

export type Column = (typeof COLUMNS)[number];

/** One class for all, or the exceptions to `else`. */
export type Row = Cell | Exceptions;

type Exceptions = { readonly else: Cell } & Partial<Readonly<Record<Column, Cell>>>;

export function cellOf(row: Row, column: Column): Cell {
  return typeof row === "string" ? row : (row[column] ?? row.else);
}

const NOT_EMBEDDED: Row = { else: "yes", embedded: "reported" };
/** Supported by OpenAI's own API only. */
const OPENAI_ALONE: Row = { else: "reported", responses: "yes" };
/** OpenRouter passes it on to vendors that support it. */
const ROUTED: Row = { else: "reported", responses: "yes", openrouter: "yes" };
/** Vendors that support it get it unchanged. */
const NATIVE: Row = { else: "bridged", responses: "yes" };
/** Supported by one API under a type of its own. */
const only = (column: Column): Row => ({ else: "reported", [column]: "yes" });

const PENALTY: Row = {
  else: "yes",
  embedded: "reported",
  responses: "reported",
  messages: "reported",
  bedrock: "reported",
};
const LIKELIHOODS: Row = {
  else: "yes",
  embedded: "reported",
  messages: "reported",
  cohere: "reported",
  bedrock: "reported",
};

const PARAMETERS: Readonly<Record<string, Row>> = {
  "input (text)": "yes",
  instructions: "yes",
  prompt: "yes",
  "text.format (json_object)": { else: "yes", messages: "bridged", bedrock: "bridged" },
  "text.format (json_schema)": "yes",
  "text.verbosity": ROUTED,
  "reasoning.effort": { else: "yes", bedrock: "reported" },
  "reasoning.summary": "yes",
  temperature: NOT_EMBEDDED,
  top_p: NOT_EMBEDDED,
  stop: { else: "yes", embedded: "reported", responses: "reported" },
  frequency_penalty: PENALTY,
  presence_penalty: PENALTY,
  top_logprobs: LIKELIHOODS,
  max_output_tokens: "yes",
  "tool_choice (none)": "yes",
  "tool_choice (required)": { else: "yes", ollama: "reported" },
  "tool_choice (a function)": { else: "yes", ollama: "reported" },
  "tool_choice (allowed_tools)": "yes",
  parallel_tool_calls: {
    else: "yes",
    gemini: "reported",
    cohere: "reported",
    ollama: "reported",
    bedrock: "reported",
  },
  max_tool_calls: "yes",
  "store (true)": "yes",
  "store (false)": "yes",
  background: "yes",
  previous_response_id: "yes",
  conversation: "yes",
  // It has no window.
  truncation: { else: "yes", embedded: "none" },
  context_management: "yes",
  metadata: "yes",
  stream: "yes",
  stream_options: "yes",
  multi_agent: "bridged",
  service_tier: {
    else: "reported",
    responses: "yes",
    gemini: "yes",
    bedrock: "yes",
    openrouter: "yes",
  },
  user: { else: "reported", chat: "yes", responses: "yes", messages: "yes", openrouter: "yes" },
  safety_identifier: { else: "reported", responses: "yes", messages: "yes" },
  prompt_cache_key: ROUTED,
  prompt_cache_retention: {
    else: "reported",
    responses: "yes",
    messages: "yes",
    openrouter: "yes",
  },
  prompt_cache_options: OPENAI_ALONE,
  moderation: OPENAI_ALONE,
  // A chat server that does not support `top_k` is asked again without it.
  "top_k (not published)": {
    else: "reported",
    messages: "yes",
    gemini: "yes",
    cohere: "yes",
    ollama: "yes",
    bedrock: "yes",
    openrouter: "yes",
  },
  "seed (not published)": {
    else: "reported",
    chat: "yes",
    gemini: "yes",
    cohere: "yes",
    ollama: "yes",
    openrouter: "yes",
  },
  "an unknown parameter": "reported",
};

const INCLUDES: Readonly<Record<string, Row>> = {
  "include (reasoning.encrypted_content)": "yes",
  "include (message.output_text.logprobs)": LIKELIHOODS,
  "include (web_search_call.results)": "yes",
  "include (web_search_call.action.sources)": "yes",
  "include (file_search_call.results)": "yes",
  "include (message.input_image.image_url)": "yes",
  "include (computer_call_output.output.image_url)": "yes",
};

const ITEMS: Readonly<Record<string, Row>> = {
  "message (user)": "yes",
  "message (system)": "yes",
  "message (developer)": "yes",
  "message (assistant)": "yes",
  "function_call, function_call_output": "yes",
  "function_call_output (parts)": "yes",
  "custom_tool_call, custom_tool_call_output": NATIVE,
  "local_shell_call, local_shell_call_output": NATIVE,
  "shell_call, shell_call_output": "bridged",
  "apply_patch_call, apply_patch_call_output": NATIVE,
  "computer_call, computer_call_output": NATIVE,
  "tool_search_call, tool_search_output": NATIVE,
  "program, program_output": NATIVE,
  web_search_call: NATIVE,
  file_search_call: "bridged",
  code_interpreter_call: "bridged",
  image_generation_call: NATIVE,
  mcp_call: "bridged",
  mcp_list_tools: "yes",
  "mcp_approval_request, mcp_approval_response": "yes",
  "reasoning (of the same vendor)": "yes",
  "reasoning (of another)": { else: "unread", embedded: "yes", responses: "yes" },
  item_reference: "yes",
  additional_tools: "yes",
  compaction: "yes",
  compaction_trigger: "yes",
  "multi_agent_call, multi_agent_call_output": "bridged",
  agent_message: "bridged",
  "an unknown kind": "reported",
};

const EYES: Exceptions = { else: "yes", embedded: "reported" };
const READ: Exceptions = { else: "bridged", embedded: "yes", responses: "yes" };

const PARTS: Readonly<Record<string, Row>> = {
  input_text: "yes",
  "input_image (data)": EYES,
  "input_image (address)": { else: "bridged", embedded: "reported" },
  "input_image (file)": EYES,
  "input_file (data, PDF)": {
    else: "yes",
    embedded: "reported",
    cohere: "bridged",
    ollama: "bridged",
  },
  "input_file (data, text)": { ...READ, gemini: "yes", bedrock: "yes" },
  "input_file (address)": { else: "bridged", embedded: "yes" },
  "input_file (file)": { ...READ, gemini: "yes", bedrock: "yes" },
  input_audio: {
    else: "yes",
    embedded: "reported",
    messages: "refused",
    cohere: "refused",
    ollama: "refused",
  },
  output_text: "yes",
  refusal: "yes",
};

/** Features of vendors beyond the published API, and whether answers show them. */
const FEATURES: Readonly<Record<string, Row>> = {
  "options (a field of the vendor's own)": { else: "yes", embedded: "none" },
  "headers (of the settings)": { else: "yes", embedded: "none" },
  "prompt_cache_retention (an hour and more)": {
    else: "reported",
    responses: "yes",
    messages: "yes",
    bedrock: "yes",
    openrouter: "yes",
  },
  "reasoning.effort (none)": { else: "yes", chat: "reported", gemini: "reported" },
  "function (strict)": { else: "yes", embedded: "none", gemini: "none", ollama: "none" },
  "function_call_output (failed)": {
    else: "yes",
    embedded: "none",
    chat: "none",
    cohere: "none",
    ollama: "none",
    openrouter: "none",
  },
  "citations of an answer": { else: "yes", embedded: "none", ollama: "none" },
  "pictures of an answer": { else: "none", responses: "yes", gemini: "yes" },
  "input_file (gs:// address)": { else: "refused", gemini: "yes" },
  "input_file (s3:// address)": { else: "refused", bedrock: "yes" },
  "input_file (YouTube address)": { else: "refused", gemini: "yes" },
  "input_file (data, video)": {
    else: "refused",
    embedded: "reported",
    responses: "none",
    gemini: "yes",
    bedrock: "yes",
  },
  "prompt_cache_breakpoint (own cache points)": {
    else: "reported",
    responses: "yes",
    messages: "yes",
    bedrock: "yes",
    openrouter: "yes",
  },
  safetySettings: only("gemini"),
  guardrailConfig: only("bedrock"),
  "provider (routing of OpenRouter)": only("openrouter"),
  "cost of an answer (told by the vendor)": { else: "none", openrouter: "yes" },
};

const TOOLS: Readonly<Record<string, Row>> = {
  function: "yes",
  custom: NATIVE,
  "custom (grammar)": NATIVE,
  namespace: NATIVE,
  tool_search: NATIVE,
  programmatic_tool_calling: OPENAI_ALONE,
  web_search: { else: "bridged", responses: "yes", messages: "yes", gemini: "yes" },
  web_search_preview: { else: "bridged", responses: "yes", messages: "yes", gemini: "yes" },
  'web_search ("execution": "server")': "bridged",
  web_search_20250305: only("messages"),
  google_search: only("gemini"),
  nova_grounding: only("bedrock"),
  file_search: "bridged",
  code_interpreter: { else: "bridged", messages: "yes", gemini: "yes" },
  code_execution_20250825: only("messages"),
  code_execution: only("gemini"),
  web_fetch_20250910: only("messages"),
  url_context: only("gemini"),
  image_generation: NATIVE,
  computer: NATIVE,
  computer_use_preview: NATIVE,
  local_shell: NATIVE,
  "shell (local)": "bridged",
  "shell (container)": "bridged",
  apply_patch: NATIVE,
  "mcp (this server)": "bridged",
  "mcp (a connector)": "reported",
  "an unknown kind": "reported",
};

interface Group {
  readonly name: string;
  /** The heading of its table, and of the column of names in it. */
  readonly title: string;
  readonly what: string;
  readonly rows: Readonly<Record<string, Row>>;
}

/** The tables in the order of the page. */
export const GROUPS = [
  {
    name: "parameters",
    title: "Parameters",
    what: "parameter",
    rows: { ...PARAMETERS, ...INCLUDES },
  },
  { name: "tools", title: "Tools", what: "tool", rows: TOOLS },
  { name: "items", title: "Items of a conversation", what: "item", rows: ITEMS },
  { name: "parts", title: "Parts of a message", what: "part", rows: PARTS },
  { name: "features", title: "What vendors have beyond it", what: "feature", rows: FEATURES },
] as const satisfies readonly Group[];

export type GroupName = (typeof GROUPS)[number]["name"];
