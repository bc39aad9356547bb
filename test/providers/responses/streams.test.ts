import { readOwnStreams } from "../streams.ts";
import { OWN_STREAM_FACTS } from "./stream-facts.ts";
import { describeResponsesStreams } from "./stream-suite.ts";

describeResponsesStreams("responses streams", readOwnStreams("responses"), OWN_STREAM_FACTS);
