/** The fields of the runner's payload in words: `offshoot subagent --help` and docs/delegation.md are made of them. */

import type { Payload } from "./payload.ts";

/** What is spelled otherwise on the wire, and what is read before the payload is. */
type Name =
  | Exclude<keyof Payload, "format">
  | "output_mode"
  | "output_schema"
  | "schema"
  | "expires_at_ms"
  | "signature"
  | "lifeline";

/** So many of the fields, the first ones, are a whole payload. */
export const WHOLE_PAYLOAD = 10;

export const PAYLOAD_FIELDS: Readonly<Record<Name, string>> = {
  model: "The model; needed. `vendor/model`, or a name of the provider's.",
  provider: "How to speak to it: `openai-chat`, `anthropic`, … The vendor's own when left out.",
  url: "The server's address, in place of the vendor's.",
  api_key_name: "The environment variable that holds the key. Never the key itself.",
  prompt: "What it is asked; needed.",
  system_prompt: "Instructions.",
  told: "The parts that the instructions are made of (`part`, `source`, `at`, `chars`): its own subagents are told those that are for them.",
  tool_subset: "Names of the tools it may use; none when left out.",
  think: "Whether the model is asked to reason.",
  temperature: "0 to 2.",
  max_tokens: "Most tokens of one answer.",
  fell_back: "True where nobody chose the model: the embedded one, which then fills no schema.",
  items:
    "The conversation that it goes on with, as items of the Responses API; its last message stands in place of `prompt`.",
  options: "Fields of the vendor's own for each request (docs/options.md).",
  label: "What it is called.",
  depth: "Its depth; 0 when left out.",
  max_turns: "Most model calls.",
  timeout_ms: "Most time, in milliseconds.",
  limits: "Most `turns`, `tokens`, `usd`, `tool_calls`, `children` that it has at once.",
  ceiling: "Most of these in all, where its parent gives it more while it works.",
  summary_prompt: "How it is to report, in a last turn of its own.",
  report_along: "Whether that goes along with the prompt instead.",
  output_mode:
    "`json_object`: any JSON object; `json_schema`: that of `output_schema`. Text when left out.",
  output_schema: "A JSON schema that the answer must fit.",
  schema: "Another name of `output_schema`.",
  on_throw: "`end` (the default): a tool that cannot do its work ends the run. `tell_model`.",
  compact:
    "What is done where its conversation nears the model's window: `auto`, `off`. The setting `compact` when left out.",
  approve:
    "`ask`, `auto` or `deny`. Only a parent with `asks` can be asked; else it is refused at once.",
  sandbox: "What holds commands: `none`, `process` or `sandbox`.",
  root: "The folder it works in.",
  grant: "What it may do at most; signed by the parent. Left out, it may do what its user may.",
  expires_at_ms: "When the signature ends, in milliseconds since 1970; needed with a grant.",
  signature:
    "The parent's signature over its bounds, in hexadecimal (HMAC-SHA256 with the key of this user's installation); needed with a grant.",
  safety: "The parent's rules and limits for tool calls; counts with a grant alone.",
  delegation: "The parent's settings of delegation; counts with a grant alone.",
  run: "Its place in the parent's record: `id`, `parent_id`, `path`; `can_ask` where its parent answers questions.",
  store_path: "Where that record is; without it nothing is kept.",
  asks: "Whether the parent is told what a person is to be asked; counts with a grant alone.",
  brief: "Leave out the frames of tool calls.",
  report: "End with a frame `subagent_report` that holds the run's ending.",
  lifeline:
    "True where the payload is one line and whoever wrote it holds standard input open: its end stops the run.",
};
