import { describeBedrockStreams } from "../providers/bedrock/stream-suite.ts";
import { describeSomeMutations } from "../providers/mutations/suite.ts";
import { recordedMutations } from "../providers/mutations/wires.ts";
import { readRecordings } from "./folder.ts";

const recordings = readRecordings("bedrock");

describeBedrockStreams("bedrock recordings", recordings, {
  "amazon-bedrock-json-tool.3.jsonl": ["message", "message", "message", "function_call"],
  "amazon-bedrock-reasoning.json": ["reasoning", "message"],
  "amazon-bedrock-reasoning.jsonl": ["reasoning", "message"],
  "amazon-bedrock-tool-no-args.jsonl": ["message", "function_call"],
});

describeSomeMutations(recordedMutations("bedrock", recordings));
