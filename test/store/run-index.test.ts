import { openKept } from "../../src/store/open-kept.ts";
import { newDatabasePath } from "./database-path.ts";
import { describeRunIndex } from "./run-index-contract.ts";

describeRunIndex("memory", () => openKept(undefined));
describeRunIndex("SQLite", () => openKept(newDatabasePath()));
