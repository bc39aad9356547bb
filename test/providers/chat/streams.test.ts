import { readOwnStreams } from "../streams.ts";
import { describeChatStreams } from "./stream-suite.ts";

describeChatStreams("chat streams", readOwnStreams("chat"), {
  "call-with-empty-name-in-later-pieces.jsonl": ["function_call"],
  "call-without-arguments.jsonl": ["function_call"],
  "calls-joined-by-index.jsonl": ["message", "function_call", "function_call"],
  "empty-lists-beside-text.jsonl": ["reasoning", "message"],
  "last-thought-beside-first-text.jsonl": ["reasoning", "message"],
  "null-in-every-unused-field.jsonl": ["reasoning", "message"],
  "reasoning-beside-null-content.jsonl": ["reasoning", "message"],
  "reasoning-content-before-a-call.jsonl": ["reasoning", "function_call"],
  "reasoning-field-without-content.jsonl": ["reasoning", "message"],
  "same-thought-beside-each-text.jsonl": [
    ...["reasoning", "message", "reasoning", "message"],
    ...["reasoning", "message", "reasoning", "message"],
  ],
  "text-in-escapes.jsonl": ["message"],
  "usage-in-the-chunk-that-ends.jsonl": ["reasoning", "message"],
  "whole-cached-tokens-beside-the-details.json": ["reasoning", "message"],
  "whole-call-beside-empty-content.json": ["reasoning", "function_call"],
  "whole-call-with-null-content.json": ["function_call"],
  "whole-call-without-content.json": ["function_call"],
  "whole-reasoning-content.json": ["reasoning", "message"],
  "whole-reasoning-field.json": ["reasoning", "message"],
  "whole-results-of-a-filter.json": ["reasoning", "message"],
});
