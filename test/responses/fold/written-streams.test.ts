import { OWN_STREAM_FACTS } from "../../providers/responses/stream-facts.ts";
import { readOwnStreams } from "../../providers/streams.ts";
import { describeWrittenStreams } from "./written-streams-suite.ts";

const { streams } = readOwnStreams("responses");
describeWrittenStreams("streams through the event writer", streams, OWN_STREAM_FACTS);
