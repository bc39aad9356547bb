import { createDecoder } from "../../../src/providers/chat/decode.ts";
import { describeMutations } from "../mutations.ts";
import { readOwnStreams } from "../streams.ts";

describeMutations("chat", readOwnStreams("chat"), () => createDecoder());
