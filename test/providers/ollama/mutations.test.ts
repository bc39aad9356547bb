import { createDecoder } from "../../../src/providers/ollama/decode.ts";
import { describeMutations } from "../mutations.ts";
import { request } from "../provider-contract.ts";
import { readOwnStreams } from "../streams.ts";

describeMutations("ollama", readOwnStreams("ollama"), () => createDecoder(request()));
