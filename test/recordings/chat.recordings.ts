import { describeChatStreams } from "../providers/chat/stream-suite.ts";
import { describeSomeMutations } from "../providers/mutations/suite.ts";
import { recordedMutations } from "../providers/mutations/wires.ts";
import { readRecordings } from "./folder.ts";

const recordings = readRecordings("chat");

describeChatStreams("chat recordings", recordings, {
  "alibaba-reasoning.jsonl": ["reasoning", "message"],
  "azure-deepseek-reasoning.1.jsonl": ["reasoning", "message"],
  "deepseek-tool-call.jsonl": ["reasoning", "function_call"],
  "groq-reasoning.jsonl": ["reasoning", "message"],
  "groq-tool-call.jsonl": ["function_call"],
  "mistral-incremental-tool-call.jsonl": ["function_call"],
  "moonshotai-stream.jsonl": ["reasoning", "message"],
});

describeSomeMutations(recordedMutations("chat", recordings));
