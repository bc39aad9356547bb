import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { PostgresDatabase } from "../../src/store/postgres/postgres-database.ts";
import { createPostgresNews } from "../../src/store/postgres/postgres-news.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

describe("news of runs", () => {
  it("keeps nothing of messages that were sent", async () => {
    const answers: WeakRef<object>[] = [];
    let sent = (): void => {};
    const get: PostgresDatabase["get"] = async () => {
      const row = { pg_notify: "" };
      answers.push(new WeakRef(row));
      sent();
      return row;
    };
    const news = createPostgresNews({ get } as PostgresDatabase);
    for (let count = 0; count < 20; count++) {
      const done = new Promise<void>((resolve) => {
        sent = resolve;
      });
      news.tell(`run_${count}`);
      await done;
    }
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    const left = answers.filter((answer) => answer.deref() !== undefined);
    assert.equal(answers.length, 20);
    assert.ok(left.length <= 1, `${left.length} of 20 answers are kept`);
    await news.close();
  });
});
