/** `offshoot`, the library: a runtime to run agents on, tools to give them, and the words they share. */

export type { LimitKind, Limits } from "./agent/limits.ts";
export type { AgentTask } from "./agent/task.ts";
export type { Clock } from "./base/clock.ts";
export { FAILURES, Failure, type FailureCode } from "./base/failure.ts";
export type { Json, JsonObject } from "./base/json.ts";
export type { Log } from "./base/log.ts";
export type { RetryPolicy } from "./base/retry.ts";
export type { AgentDefinition } from "./delegation/agents/definition.ts";
export type { AgentOptions } from "./delegation/agents/own-agents.ts";
export type { Plan } from "./delegation/plan.ts";
export type { DelegationSettings } from "./delegation/settings.ts";
export type { SubagentEvent } from "./delegation/subagent-events.ts";
export type { Engine } from "./engine/engine.ts";
export { type Item, parseItem, parseItems, toItems } from "./protocol/items.ts";
export type { ModelEvent } from "./protocol/model-events.ts";
export { parseResponse, type Response } from "./protocol/response.ts";
export { parseResponseEvent, type ResponseEvent } from "./protocol/response-events.ts";
export {
  ENDINGS,
  type Ending,
  type LoggedEvent,
  type RunEnd,
  type RunEvent,
  type ToolDecision,
} from "./protocol/run-events.ts";
export type { ToolQuestion } from "./protocol/tool-question.ts";
export type { Usage } from "./protocol/usage.ts";
export type { Timeouts } from "./providers/http/http-answer.ts";
export type { ModelOverride } from "./providers/models/models.ts";
export type { ModelCall, ModelRequest, OutputFormat, Provider } from "./providers/provider.ts";
export type { SessionTurn } from "./responses/conversations/session-turns.ts";
export type { OpenQuestion } from "./runtime/approvals.ts";
export type { ChildProcessSettings } from "./runtime/child-processes.ts";
export type { ResponsesSettings } from "./runtime/open-responses.ts";
export type { Replayed } from "./runtime/replay.ts";
export type { ApproveWish, DenyWish } from "./runtime/run-handle.ts";
export {
  createRuntime,
  type Run,
  type RunRequest,
  type Runtime,
  type RuntimeOptions,
} from "./runtime/runtime.ts";
export type { SafetySettings } from "./runtime/safety-settings.ts";
export type {
  ForkedFrom,
  ForkOptions,
  SessionPage,
  SessionQuery,
  SessionSummary,
  Sessions,
  SessionWish,
} from "./runtime/sessions/session.ts";
export type { ToolSettings } from "./runtime/toolbox.ts";
export { defineTool } from "./tools/define-tool.ts";
export type { Answer, Ask, Denial, Question } from "./tools/gate/ask.ts";
export type { Grant, GrantLayer } from "./tools/gate/grant.ts";
export { parseRule, type Rule } from "./tools/gate/rules.ts";
export {
  type Effect,
  type Targets,
  type Tool,
  type ToolContext,
  ToolOutput,
} from "./tools/tool.ts";
export type { FileBuffers } from "./tools/workspace/buffered-workspace.ts";
export { VERSION } from "./version.ts";
