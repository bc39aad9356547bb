import { describeParsedStreams } from "../protocol/parsed-streams-suite.ts";
import { describeSomeMutations } from "../providers/mutations/suite.ts";
import { recordedMutations } from "../providers/mutations/wires.ts";
import type { StreamFacts } from "../providers/responses/stream-facts.ts";
import { describeResponsesStreams } from "../providers/responses/stream-suite.ts";
import { describeWrittenStreams } from "../responses/fold/written-streams-suite.ts";
import { readRecordings } from "./folder.ts";

const FACTS: StreamFacts = {
  failing: { "openai-error.1.jsonl": "provider_rejected" },
  changesIds: ["github-copilot-id-rotation.1.jsonl"],
  shortened: ["openai-phase.1.jsonl"],
  cutLines: { "parallel-tool-call-wrapper.1.jsonl": 2 },
  unpublished: {
    "openai-image-generation-tool.1.jsonl": ["response.output_item.added image_generation_call"],
    "openai-shell-tool.1.jsonl": [
      "response.output_item.added shell_call",
      "response.output_item.done shell_call",
      "response.completed",
    ],
    "xai-web-search-tool.1.jsonl": [
      "response.output_item.added web_search_call",
      "response.output_item.done web_search_call",
      "response.completed",
    ],
  },
  outOfOrder: {
    // Most of the pieces are left out.
    "openai-phase.1.jsonl": [/in pieces and/, /in pieces and/],
    // The service says of a call that a program makes that it is done and in progress.
    "programmatic-tool-calling.2.jsonl": [/is done and in progress/],
    // This vendor tells nothing of its searches except that there are some.
    "xai-web-search-tool.1.jsonl": [/is completed and was not told so/],
  },
};

const recordings = readRecordings("responses");
describeResponsesStreams("responses recordings", recordings, FACTS);
describeWrittenStreams("recordings through the event writer", recordings.streams, FACTS);
describeParsedStreams("recorded responses", recordings, FACTS);
describeSomeMutations(recordedMutations("responses", recordings));
