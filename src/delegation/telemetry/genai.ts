/**
 * The one table between our events and OpenTelemetry's conventions for generative AI. They are
 * still in development: when a name changes there, it changes here and nowhere else.
 *
 * Names without a convention are ours, under `offshoot.`. No prompt, argument or output has a row.
 */

export const ATTRIBUTES = {
  operation: "gen_ai.operation.name",
  run_id: "gen_ai.agent.id",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  vendor: "gen_ai.provider.name",
  model: "gen_ai.request.model",
  temperature: "gen_ai.request.temperature",
  max_output_tokens: "gen_ai.request.max_tokens",
  output_type: "gen_ai.output.type",
  response_id: "gen_ai.response.id",
  response_model: "gen_ai.response.model",
  finish_reasons: "gen_ai.response.finish_reasons",
  input_tokens: "gen_ai.usage.input_tokens",
  output_tokens: "gen_ai.usage.output_tokens",
  cached_tokens: "gen_ai.usage.cache_read.input_tokens",
  cache_write_tokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoning_tokens: "gen_ai.usage.reasoning.output_tokens",
  tool: "gen_ai.tool.name",
  tool_type: "gen_ai.tool.type",
  call_id: "gen_ai.tool.call.id",
  token_type: "gen_ai.token.type",
  error: "error.type",
  path: "offshoot.run.path",
  depth: "offshoot.run.depth",
  ending: "offshoot.run.ending",
  turns: "offshoot.run.turns",
  tool_calls: "offshoot.run.tool_calls",
  epoch: "offshoot.run.epoch",
  turn: "offshoot.turn",
  cost_usd: "offshoot.cost_usd",
  verdict: "offshoot.decision.verdict",
  decided_by: "offshoot.decision.by",
  rule: "offshoot.decision.rule",
  sandbox: "offshoot.decision.sandbox",
  notice: "offshoot.notice.code",
  child_id: "offshoot.child.id",
  subagent_event: "subagent.event",
} as const;
type Field = keyof typeof ATTRIBUTES;

/** A span's name is its operation, followed by its object. */
export const OPERATIONS = { run: "invoke_agent", turn: "chat", tool: "execute_tool" } as const;

/** Events inside a span. Those of subagents have the names of their log lines. */
export const SPAN_EVENTS = {
  decision: "offshoot.tool.decision",
  notice: "offshoot.notice",
  resume: "offshoot.run.resume",
  input: "offshoot.run.input",
  compaction: "offshoot.run.compaction",
  subagent: "subagent.",
} as const;

/** Vendors with another name in the conventions; the rest keep ours. */
const VENDORS: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  mistral: "mistral_ai",
  vertex: "gcp.vertex_ai",
  vertexai: "gcp.vertex_ai",
  xai: "x_ai",
};

/** The buckets are the conventions' own, so dashboards made for them work. */
export const HISTOGRAMS = {
  tokens: {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    description: "Tokens that model calls took, by type.",
    buckets: Array.from({ length: 14 }, (_, power) => 4 ** power),
  },
  duration: {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    description: "How long model calls and runs took.",
    buckets: Array.from({ length: 14 }, (_, power) => 2 ** power / 100),
  },
} as const;

export const SUBAGENT_COUNTER = {
  name: "offshoot.subagent.events",
  unit: "{event}",
  description: "What happened to subagents, by event.",
} as const;

export type AttributeValue = string | number | boolean | readonly string[];
export type SpanAttributes = Readonly<Record<string, AttributeValue>>;

/** Facts about something, by our names. */
export type Fields = Partial<Record<Field, AttributeValue | null | undefined>>;

/** Fields that are absent or unknown get no attribute. */
export function toAttributes(fields: Fields): SpanAttributes {
  const named: Record<string, AttributeValue> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) named[ATTRIBUTES[field as Field]] = value;
  }
  return named;
}

/** `mistral/large` is the vendor's and the model's name. */
export function toModelFields(ref: string): { readonly vendor: string; readonly model: string } {
  const end = ref.indexOf("/");
  const vendor = end < 0 ? ref : ref.slice(0, end);
  const name = Object.hasOwn(VENDORS, vendor) ? VENDORS[vendor] : undefined;
  return { vendor: name ?? vendor, model: ref.slice(end + 1) };
}
