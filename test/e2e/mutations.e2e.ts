/**
 * All mutations, of which the unit tests try a part: here, because it takes a minute. It starts no
 * processes.
 */

import { describeAllMutations } from "../providers/mutations/suite.ts";
import { MUTATED_WIRES, ownMutations } from "../providers/mutations/wires.ts";

for (const wire of MUTATED_WIRES) describeAllMutations(ownMutations(wire));
