import { createDecoder } from "../../../src/providers/messages/decode.ts";
import { describeMutations } from "../mutations.ts";
import { readOwnStreams } from "../streams.ts";

describeMutations("messages", readOwnStreams("messages"), () => createDecoder());
