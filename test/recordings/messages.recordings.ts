import { describeMessagesStreams } from "../providers/messages/stream-suite.ts";
import { describeSomeMutations } from "../providers/mutations/suite.ts";
import { recordedMutations } from "../providers/mutations/wires.ts";
import { readRecordings } from "./folder.ts";

const recordings = readRecordings("messages");

describeMessagesStreams("messages recordings", recordings, {
  kinds: {
    "anthropic-combined-context-editing.1.jsonl": ["reasoning", "message"],
    "anthropic-json-tool.2.jsonl": ["message", "function_call"],
    "anthropic-mcp.1.jsonl": ["anthropic:mcp_tool_use", "anthropic:mcp_tool_result", "message"],
    "anthropic-refusal.jsonl": ["message"],
    "duplicate-message-start.jsonl": ["message"],
  },
  // Two answers joined into one by a server in between; the first was interrupted.
  failing: { "spliced-message-start.jsonl": "provider_broke_protocol" },
});

describeSomeMutations(recordedMutations("messages", recordings));
