/** `offshoot/protocol`: every item, part, tool, request, response and event of the Responses API, as schema and type. */

export {
  Annotation,
  ComputerScreenshot,
  ContainerFileCitation,
  ContentPart,
  EncryptedContent,
  FileCitation,
  FilePath,
  InputAudio,
  InputFile,
  InputImage,
  InputText,
  Logprob,
  OpenPart,
  OutputAudio,
  OutputText,
  PART_TYPES,
  PlainText,
  ReasoningText,
  Refusal,
  SummaryText,
  UrlCitation,
} from "./content.ts";
export type {
  EmittedAnnotation,
  EmittedCompaction,
  EmittedCustomToolCall,
  EmittedError,
  EmittedErrorEvent,
  EmittedEvent,
  EmittedFunctionCall,
  EmittedFunctionCallOutput,
  EmittedItem,
  EmittedLogprob,
  EmittedMessage,
  EmittedPart,
  EmittedReasoning,
  EmittedResponse,
  EmittedText,
  OwnItem,
  PassedItem,
  Unnumbered,
} from "./emitted.ts";
export { HOSTED_ITEM_KINDS, ToolSearchCallOutput } from "./hosted-items.ts";
export {
  ApplyPatchCall,
  ApplyPatchCallOutput,
  ApplyPatchDiffDone,
  ApplyPatchTool,
} from "./hosted-kinds/apply-patch.ts";
export {
  CodeInterpreterCall,
  CodeInterpreterCodeDone,
  CodeInterpreterTool,
} from "./hosted-kinds/code-interpreter.ts";
export {
  ComputerCall,
  ComputerCallOutput,
  ComputerTool,
  ComputerUsePreviewTool,
} from "./hosted-kinds/computer.ts";
export { FileSearchCall, FileSearchTool } from "./hosted-kinds/file-search.ts";
export {
  ImageGenerationCall,
  ImageGenerationTool,
  ImagePartial,
} from "./hosted-kinds/image-generation.ts";
export {
  LocalShellCall,
  LocalShellCallOutput,
  LocalShellTool,
} from "./hosted-kinds/local-shell.ts";
export {
  McpApprovalRequest,
  McpApprovalResponse,
  McpCall,
  McpCallArgumentsDone,
  McpListTools,
  McpTool,
} from "./hosted-kinds/mcp.ts";
export { Program, ProgrammaticToolCalling, ProgramOutput } from "./hosted-kinds/program.ts";
export {
  ShellCall,
  ShellCallOutput,
  ShellCommand,
  ShellCommandDelta,
  ShellOutput,
  ShellOutputDelta,
  ShellOutputDone,
  ShellTool,
} from "./hosted-kinds/shell.ts";
export { ToolSearchCall, ToolSearchTool } from "./hosted-kinds/tool-search.ts";
export { WebSearchCall, WebSearchPreviewTool, WebSearchTool } from "./hosted-kinds/web-search.ts";
export {
  AdditionalTools,
  AgentMessage,
  Compaction,
  CompactionTrigger,
  CustomToolCall,
  CustomToolCallOutput,
  EasyMessage,
  FunctionCall,
  FunctionCallOutput,
  InputItem,
  ITEM_TYPES,
  Item,
  ItemReference,
  Message,
  MultiAgentCall,
  MultiAgentCallOutput,
  OpenItem,
  parseItem,
  parseItems,
  Reasoning,
  toItems,
} from "./items.ts";
export type { Continuation, EndReason, ModelEvent } from "./model-events.ts";
export {
  ContextManagement,
  CreateResponse,
  EFFORTS,
  type Effort,
  Include,
  Metadata,
  Prompt,
  parseCreateResponse,
  ReasoningConfig,
  ServiceTier,
  TextConfig,
  TextFormat,
} from "./request.ts";
export {
  IncompleteDetails,
  parseResponse,
  Response,
  ResponseError,
  ResponseStatus,
  ResponseUsage,
} from "./response.ts";
export {
  AnnotationEvent,
  AudioDelta,
  AudioDone,
  ContentPartEvent,
  ErrorEvent,
  InjectCreated,
  InjectFailed,
  Lifecycle,
  OutputItemEvent,
  OutputTextDelta,
  OutputTextDone,
  parseResponseEvent,
  RESPONSE_EVENT_TYPES,
  ReasoningTextDelta,
  ReasoningTextDone,
  RefusalDelta,
  RefusalDone,
  ResponseEvent,
  SummaryPartEvent,
  SummaryTextDelta,
  SummaryTextDone,
} from "./response-events.ts";
export {
  ENDINGS,
  type Ending,
  type LoggedEvent,
  type Notice,
  type RunEnd,
  type RunError,
  type RunEvent,
  type RunResume,
  type RunSettings,
  type RunStart,
  type ToolEnd,
  type ToolStart,
  type TurnEnd,
  type TurnStart,
} from "./run-events.ts";
export {
  CustomToolCallInputDone,
  FunctionCallArgumentsDone,
  LegacyArgumentsDelta,
  LegacyArgumentsDone,
  TOOL_CALL_EVENT_KINDS,
  ToolCallDelta,
  ToolCallProgress,
} from "./tool-call-events.ts";
export {
  AllowedTools,
  CustomTool,
  FunctionTool,
  HostedToolChoice,
  McpToolChoice,
  NamedToolChoice,
  NamespaceTool,
  TOOL_TYPES,
  Tool,
  ToolChoice,
} from "./tools.ts";
export { addUsage, NO_USAGE, toUsage, type Usage } from "./usage.ts";
