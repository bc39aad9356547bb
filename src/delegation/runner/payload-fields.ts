/**
 * Describes the fields of the runner's payload: `offshoot subagent --help` and docs/delegation.md are made from this
 * table.
 */

import type { Payload } from "./payload.ts";

/** Fields with another name on the wire, and those that are read before the payload is. */
type Name =
  | Exclude<keyof Payload, "format">
  | "output_mode"
  | "output_schema"
  | "schema"
  | "expires_at_ms"
  | "signature"
  | "lifeline";

/** The first fields of the table, this many, are a complete payload. */
export const WHOLE_PAYLOAD = 10;

export const PAYLOAD_FIELDS: Readonly<Record<Name, string>> = {
  model: "The model; required. `vendor/model`, or a name of the provider's.",
  provider: "The API to use: `openai-chat`, `anthropic`, … The vendor's own when left out.",
  url: "The server's address, if it is not the vendor's.",
  api_key_name: "The environment variable that holds the key. Never the key itself.",
  prompt: "The task; required.",
  system_prompt: "Instructions.",
  told: "The parts of the instructions (`part`, `source`, `at`, `chars`). Its own subagents get those parts that are meant for subagents.",
  tool_subset: "Names of the tools that it may use; none when left out.",
  think: "True to ask the model to reason.",
  temperature: "0 to 2.",
  max_tokens: "Maximum tokens of one answer.",
  fell_back: "True if no model was chosen: it is the embedded one, which then fills no schema.",
  effort: "Reasoning effort, if `think` is true: `low`, `medium`, … `high` when left out.",
  items:
    "The conversation that it continues, as items of the Responses API; its last message replaces `prompt`.",
  options: "Vendor-specific fields for each request (docs/options.md).",
  label: "The subagent's label.",
  depth: "Number of runs above it; 0 when left out.",
  max_turns: "Maximum number of model calls.",
  timeout_ms: "Time limit, in milliseconds.",
  limits: "Maximum `turns`, `tokens`, `usd`, `tool_calls` and `children`.",
  ceiling: "Upper bound for `limits` after top-ups by the parent.",
  summary_prompt: "The prompt for its report, in a last turn of its own.",
  report_along: "True to send the summary prompt with the task, without a turn of its own.",
  output_mode:
    "`json_object`: any JSON object; `json_schema`: that of `output_schema`. Text when left out.",
  output_schema: "A JSON schema that the answer must fit.",
  schema: "Another name for `output_schema`.",
  on_throw:
    "`end` (the default): a tool that cannot do its work ends the run. `tell_model`: the model reads the error and continues.",
  compact:
    "What happens when its conversation nears the model's window: `auto`, `off`. The setting `compact` when left out.",
  approve:
    "`ask`, `auto` or `deny`. Only a parent with `asks` can be asked; else it is refused at once.",
  sandbox: "How commands are isolated: `none`, `process` or `sandbox`.",
  root: "The folder it works in.",
  grant:
    "Upper bound of its permissions; signed by the parent. Without it, it may do what its user may.",
  expires_at_ms: "When the signature expires, in milliseconds since 1970; needed with a grant.",
  signature:
    "The parent's signature over its bounds, in hexadecimal (HMAC-SHA256 with the key of this user's installation); needed with a grant.",
  safety: "The parent's rules and limits for tool calls; used only with a grant.",
  delegation: "The parent's settings of delegation; used only with a grant.",
  run: "The run in the parent's record: `id`, `parent_id`, `path`; `can_ask` if its parent answers questions.",
  store_path: "The address of that record; without it nothing is stored.",
  asks: "True to send the parent the questions for a person; used only with a grant.",
  brief: "Leave out the frames of tool calls.",
  report: "End with a frame `subagent_report` that has the run's ending.",
  lifeline:
    "True if the payload is one line and its writer keeps standard input open: the end of the input stops the run.",
};
