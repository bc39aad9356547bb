import { createMemoryShelf } from "../../src/store/memory-shelf.ts";
import { describeShelf } from "./shelf-contract.ts";

describeShelf("memory shelf", async () => createMemoryShelf());
