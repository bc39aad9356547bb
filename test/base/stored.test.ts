import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { storedList, storedObject, storedOrNull } from "../../src/base/stored.ts";

interface Fox {
  readonly name: string;
  readonly age: number;
  readonly color?: string | undefined;
}

const fox = storedObject<Fox>("a fox", ["name", "age"]);
const foxes = storedList<Fox>("a list of foxes", ["name"]);

describe("stored values", () => {
  it("are read as they were written, with fields of any version", () => {
    const value = { name: "Rey", age: 3, color: "red", sleeps: true };
    assert.deepEqual(fox.read(JSON.parse(JSON.stringify(fox.write(value)))), value);
    assert.deepEqual(foxes.read([value]), [value]);
  });

  it("of another kind are refused by the name of the kind", () => {
    for (const stored of [null, "Rey", [], { name: "Rey" }, [{ name: "Rey", age: 3 }]]) {
      assert.throws(() => fox.read(stored), { code: "internal", message: /does not hold a fox / });
    }
    for (const stored of [null, {}, [null], [{ age: 3 }]]) {
      assert.throws(() => foxes.read(stored), { message: /does not hold a list of foxes / });
    }
  });

  it("may be null where that is said", () => {
    const maybe = storedOrNull(fox);
    assert.equal(maybe.read(maybe.write(null)), null);
    assert.throws(() => maybe.read("Rey"), { code: "internal" });
  });
});
