import { describeMutations } from "../mutations.ts";
import { readOwnStreams } from "../streams.ts";
import { createResponsesDecoder } from "./wire-events.ts";

describeMutations("responses", readOwnStreams("responses"), () => createResponsesDecoder());
