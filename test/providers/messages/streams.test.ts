import { readOwnStreams } from "../streams.ts";
import { describeMessagesStreams } from "./stream-suite.ts";

const SERVER = "anthropic:server_tool_use";
const COMMAND = [SERVER, "anthropic:bash_code_execution_tool_result"];
const EDITED = "anthropic:text_editor_code_execution_tool_result";
const FOUND = "anthropic:tool_search_tool_result";
const MCP = ["anthropic:mcp_tool_use", "anthropic:mcp_tool_result"];
const CONTAINER = "anthropic:container";

describeMessagesStreams("messages streams", readOwnStreams("messages"), {
  kinds: {
    "advice-of-another-model.jsonl": [SERVER, "anthropic:advisor_tool_result", "message"],
    "call-after-text.jsonl": ["message", "function_call"],
    "call-made-by-a-program.jsonl": [SERVER, "anthropic:tool_use", "function_call", CONTAINER],
    "call-with-pings-around-its-pieces.jsonl": ["function_call"],
    "call-without-input.jsonl": ["function_call"],
    "calls-of-an-mcp-server.jsonl": [...MCP, ...MCP, "message"],
    "calls-side-by-side.jsonl": ["function_call", "function_call"],
    "commands-run-by-the-server.jsonl": [
      "message",
      ...COMMAND,
      ...COMMAND,
      ...COMMAND,
      "message",
      CONTAINER,
    ],
    "compaction-before-text.jsonl": ["anthropic:compaction", "message"],
    "empty-text-before-a-call.jsonl": ["function_call"],
    "files-edited-by-the-server.jsonl": [
      SERVER,
      EDITED,
      SERVER,
      SERVER,
      EDITED,
      EDITED,
      SERVER,
      EDITED,
      "message",
      CONTAINER,
    ],
    "pause-of-a-long-turn.jsonl": ["message", SERVER],
    "refusal-in-the-middle.jsonl": ["message"],
    "refusal-with-an-explanation.jsonl": ["message"],
    "search-that-waits-for-a-result.jsonl": ["function_call", SERVER],
    "start-sent-twice.jsonl": ["message"],
    "text-between-pings.jsonl": ["message"],
    "text-that-cites-a-document.jsonl": ["message"],
    "text-that-cites-a-page.jsonl": [SERVER, "anthropic:web_search_tool_result", "message"],
    "text-that-reached-the-limit.jsonl": ["message"],
    "thinking-before-text.jsonl": ["reasoning", "message"],
    "thinking-that-is-not-shown.jsonl": ["reasoning", "reasoning", "function_call"],
    "tool-found-by-a-search.jsonl": ["message", SERVER, FOUND, "message", "function_call"],
    "two-answers-in-a-row.jsonl": [FOUND, "message", "function_call"],
  },
  failing: {
    "error-in-the-middle.jsonl": "provider_overloaded",
    "error-of-a-full-server.json": "provider_overloaded",
    "second-answer-inside-the-first.jsonl": "provider_broke_protocol",
  },
});
