import { describeGeminiStreams } from "../providers/gemini/stream-suite.ts";
import { describeSomeMutations } from "../providers/mutations/suite.ts";
import { recordedMutations } from "../providers/mutations/wires.ts";
import { readRecordings } from "./folder.ts";

const recordings = readRecordings("gemini");

describeGeminiStreams("gemini recordings", recordings, {
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

describeSomeMutations(recordedMutations("gemini", recordings));
