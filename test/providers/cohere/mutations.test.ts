import { describeSomeMutations } from "../mutations/suite.ts";
import { ownMutations } from "../mutations/wires.ts";

describeSomeMutations(ownMutations("cohere"));
