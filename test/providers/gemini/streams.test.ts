import { readOwnStreams } from "../streams.ts";
import { describeGeminiStreams } from "./stream-suite.ts";

describeGeminiStreams("gemini streams", readOwnStreams("gemini"), {
  "call-in-pieces-closed-by-its-last-piece.jsonl": ["reasoning", "function_call"],
  "call-signed-after-it-has-begun.jsonl": ["function_call", "reasoning"],
  "call-without-arguments-before-one-in-pieces.jsonl": [
    "reasoning",
    "function_call",
    "function_call",
  ],
  "calls-in-pieces-closed-by-empty-ones.jsonl": ["reasoning", "function_call", "function_call"],
  "code-that-the-vendor-ran.jsonl": [
    "message",
    "google:executableCode",
    "google:codeExecutionResult",
    "message",
  ],
  "complete-calls-with-ids.jsonl": ["reasoning", "function_call", "function_call"],
  "finish-reason-in-every-event.jsonl": ["message"],
  "image-beside-text.jsonl": ["message", "image_generation_call", "message"],
  "nested-arguments-in-pieces.jsonl": ["reasoning", "function_call"],
  "server-that-names-no-answer.jsonl": [
    "message",
    "google:executableCode",
    "google:codeExecutionResult",
  ],
  "text-before-unsigned-calls.jsonl": ["message", "function_call", "function_call"],
  "text-signed-in-its-last-piece.jsonl": ["message", "reasoning"],
  "text-with-a-signature-after-it.jsonl": ["message", "reasoning"],
  "text-with-its-sources.jsonl": ["message"],
  "text-with-token-probabilities.jsonl": ["message"],
  "thoughts-before-text.jsonl": ["reasoning", "message"],
  "whole-signed-text.json": ["message", "reasoning"],
  "whole-thoughts-and-calls.json": ["reasoning", "function_call", "function_call"],
});
