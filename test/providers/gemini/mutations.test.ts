import { createDecoder } from "../../../src/providers/gemini/decode.ts";
import { describeMutations } from "../mutations.ts";
import { readOwnStreams } from "../streams.ts";

/** What the project's other streams have none of. */
const MORE = [
  {
    name: "prompt that a filter stopped",
    lines: ['{"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"No."}}'],
  },
  {
    name: "answer that goes on",
    lines: [
      '{"candidates":[{"content":{"parts":[{"text":"So"}]},"finishReason":"CONTINUATION","continuationToken":"b24="}]}',
    ],
  },
  {
    name: "call of nothing, and sources of every kind",
    lines: [
      '{"candidates":[{"content":{"parts":[{"functionCall":null,"text":"Oh"}]},"finishReason":"STOP","finishMessage":"Done.","citationMetadata":{"citations":[{"startIndex":0,"endIndex":2,"uri":"https://a.example","title":"A"}]},"groundingMetadata":{"groundingChunks":[{"retrievedContext":{"uri":"https://b.example","title":"B"}},{"maps":{"uri":"https://c.example","title":"C"}}]}}]}',
    ],
  },
];

const { streams, answers } = readOwnStreams("gemini");

describeMutations("gemini", { streams: [...streams, ...MORE], answers }, () =>
  createDecoder({ items: [] }),
);
