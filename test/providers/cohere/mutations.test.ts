import { createDecoder } from "../../../src/providers/cohere/decode.ts";
import { describeMutations } from "../mutations.ts";
import { request } from "../provider-contract.ts";
import { readOwnStreams } from "../streams.ts";

describeMutations("cohere", readOwnStreams("cohere"), () => createDecoder(request()));
