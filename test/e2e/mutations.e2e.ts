/** All of what the unit tests try a part of: here, because it takes a minute. It starts no processes. */

import { describeAllMutations } from "../providers/mutations/suite.ts";
import { ownMutations } from "../providers/mutations/wires.ts";
import type { WireFolder } from "../providers/streams.ts";

const WIRES: readonly WireFolder[] = [
  ...(["bedrock", "chat", "cohere", "gemini", "messages", "ollama", "responses"] as const),
];
for (const wire of WIRES) describeAllMutations(ownMutations(wire));
