import { describeGeminiStreams } from "../providers/gemini/stream-suite.ts";
import { readRecordings } from "./folder.ts";

describeGeminiStreams("gemini recordings", readRecordings("gemini"), {
  "google-reasoning.jsonl": ["message", "reasoning"],
  "google-stream-no-args-tool-call.jsonl": [
    "reasoning",
    "function_call",
    "function_call",
    "function_call",
    "function_call",
  ],
  "google-stream-tool-call-arguments.jsonl": ["reasoning", "function_call", "function_call"],
});
