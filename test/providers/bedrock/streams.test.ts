import { readOwnStreams } from "../streams.ts";
import { describeBedrockStreams } from "./stream-suite.ts";

const CALLS_WITH_TEXT_BETWEEN = [
  "message",
  "function_call",
  "function_call",
  "message",
  "function_call",
];

describeBedrockStreams("bedrock streams", readOwnStreams("bedrock"), {
  "call-alone-without-usage.jsonl": ["function_call"],
  "call-with-empty-input.jsonl": ["message", "function_call"],
  "call-with-its-type.jsonl": ["message", "function_call"],
  "calls-side-by-side.jsonl": ["function_call", "function_call"],
  "calls-with-text-between.jsonl": CALLS_WITH_TEXT_BETWEEN,
  "reasoning-before-a-call.jsonl": ["reasoning", "function_call"],
  "reasoning-that-only-its-maker-reads.jsonl": ["reasoning", "message"],
  "reasoning-with-a-signature.jsonl": ["reasoning", "message"],
  "text-with-its-sources.jsonl": ["message"],
  "texts-that-never-stop.jsonl": ["message", "message", "message", "function_call"],
  "tool-that-the-vendor-ran.jsonl": ["bedrock:toolUse", "bedrock:toolResult", "message"],
  "usage-before-the-reason.jsonl": ["message", "function_call"],
  "usage-with-a-cache.jsonl": ["message"],
  "whole-call-with-nested-input.json": ["function_call"],
  "whole-call-with-its-type.json": ["message", "function_call"],
  "whole-call-without-input.json": ["message", "function_call"],
  "whole-calls-with-text-between.json": CALLS_WITH_TEXT_BETWEEN,
  "whole-reasoning-that-only-its-maker-reads.json": ["reasoning", "message"],
  "whole-signed-reasoning.json": ["reasoning", "message"],
  "whole-texts-with-a-type.json": ["message", "message", "function_call"],
});
