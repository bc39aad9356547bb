import { createMemoryShelf } from "../../src/store/memory/memory-shelf.ts";
import { describeBatches } from "./batches-contract.ts";
import { describeChains } from "./chain-contract.ts";
import { describeExpiry } from "./expiry-contract.ts";
import { describeShelf } from "./shelf-contract.ts";
import { describeStorage } from "./storage-contract.ts";
import { describeUnder } from "./under-contract.ts";

describeShelf("memory shelf", async () => createMemoryShelf());
describeExpiry("memory shelf", async () => createMemoryShelf());
describeUnder("memory shelf", async () => createMemoryShelf());
describeChains("memory shelf", async () => createMemoryShelf());
describeStorage("memory shelf", async () => createMemoryShelf());
describeBatches("memory shelf", async () => {
  const shelf = createMemoryShelf();
  return [shelf, shelf];
});
