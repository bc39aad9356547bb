import { createDecoder } from "../../../src/providers/bedrock/decode.ts";
import { describeMutations } from "../mutations.ts";
import { readOwnStreams } from "../streams.ts";
import { CLAUDE } from "./converse.ts";

/** What the project's other streams have none of: a picture, and an exception in the middle. */
const MORE = [
  {
    name: "image in pieces",
    lines: [
      '{"contentBlockStart":{"contentBlockIndex":0,"start":{"image":{"format":"png"}}}}',
      '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"image":{"source":{"bytes":"AAAA"}}}}}',
      '{"contentBlockStop":{"contentBlockIndex":0}}',
      '{"messageStop":{"stopReason":"end_turn"}}',
    ],
  },
  {
    name: "exception behind text",
    lines: [
      '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"So"}}}',
      '{"modelStreamErrorException":{"message":"It broke","originalStatusCode":500}}',
    ],
  },
];

const { streams, answers } = readOwnStreams("bedrock");
const folder = { streams: [...streams, ...MORE], answers };

describeMutations("bedrock", folder, () =>
  createDecoder({ model: CLAUDE, format: { type: "text" } }),
);

describeMutations("bedrock whose answer is a tool's input", folder, () =>
  createDecoder({
    model: CLAUDE,
    format: { type: "json_schema", name: "size", schema: { type: "object" }, strict: false },
  }),
);
