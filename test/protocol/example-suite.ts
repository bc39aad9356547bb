/** The checks for examples of the API's values, ours and those of a reference. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { z } from "zod";
import type { Json } from "../../src/base/json.ts";

export interface ExampleGroup {
  readonly schema: z.ZodType;
  /** The names that its kinds must be known by: an unknown kind parses with any content. */
  readonly types?: readonly string[];
  readonly examples: readonly Json[];
}

export function describeExamples(
  name: string,
  groups: Readonly<Record<string, ExampleGroup>>,
): void {
  describe(name, () => {
    for (const [group, { schema, types, examples }] of Object.entries(groups)) {
      it(`parse and keep every field: ${group}`, () => {
        assert.ok(examples.length > 0, "there is none");
        for (const example of examples) {
          assert.deepEqual(schema.parse(example), example);
          const type = typeOf(example);
          if (types && type !== undefined) assert.ok(types.includes(type), type);
        }
      });
    }
  });
}

/** The type of an example; undefined if it is written without one. */
export function typeOf(example: Json): string | undefined {
  const { type } = example as { readonly type?: string | null };
  return type ?? undefined;
}
