import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { describeStore } from "./store-contract.ts";
import { describeStoreModel } from "./store-model.ts";
import { describeTurns } from "./turns-contract.ts";

describeStore("memory store", async () => createMemoryStore());
describeStoreModel("memory store", async () => createMemoryStore());
describeTurns("memory store", async () => createMemoryStore());
