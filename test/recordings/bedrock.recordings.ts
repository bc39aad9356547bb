import { describeBedrockStreams } from "../providers/bedrock/stream-suite.ts";
import { readRecordings } from "./folder.ts";

describeBedrockStreams("bedrock recordings", readRecordings("bedrock"), {
  "amazon-bedrock-json-tool.3.jsonl": ["message", "message", "message", "function_call"],
  "amazon-bedrock-reasoning.json": ["reasoning", "message"],
  "amazon-bedrock-reasoning.jsonl": ["reasoning", "message"],
  "amazon-bedrock-tool-no-args.jsonl": ["message", "function_call"],
});
