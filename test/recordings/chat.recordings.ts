import { describeChatStreams } from "../providers/chat/stream-suite.ts";
import { readRecordings } from "./folder.ts";

describeChatStreams("chat recordings", readRecordings("chat"), {
  "alibaba-reasoning.jsonl": ["reasoning", "message"],
  "azure-deepseek-reasoning.1.jsonl": ["reasoning", "message"],
  "deepseek-tool-call.jsonl": ["reasoning", "function_call"],
  "groq-reasoning.jsonl": ["reasoning", "message"],
  "groq-tool-call.jsonl": ["function_call"],
  "mistral-incremental-tool-call.jsonl": ["function_call"],
  "moonshotai-stream.jsonl": ["reasoning", "message"],
});
