/** The matrix, found out cell by cell: one server a provider, one request a cell. */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { suiteContext } from "../provider-servers.ts";
import {
  COLUMNS,
  cellOf,
  FEATURES,
  INCLUDES,
  ITEMS,
  PARAMETERS,
  PARTS,
  type Row,
  TOOLS,
} from "./cells.ts";
import { FEATURE_PROBES } from "./feature-probes.ts";
import { INCLUDE_PROBES } from "./include-probes.ts";
import { ITEM_PROBES } from "./item-probes.ts";
import { PARAMETER_PROBES } from "./parameter-probes.ts";
import { PART_PROBES } from "./part-probes.ts";
import { type Probe, runProbe, type World } from "./probe.ts";
import { TOOL_PROBES } from "./tool-probes.ts";
import { openWorld } from "./world.ts";

type Table = Readonly<Record<string, Row>>;
type Probes = Readonly<Record<string, Probe>>;

/**
 * Cells that are not yet what the table says, by column and name: tried all the same, and shown as
 * such. A row goes when it is mended.
 */
const OPEN: Readonly<Record<string, string>> = {};

const GROUPS: readonly (readonly [string, Table, Probes])[] = [
  ["parameters", PARAMETERS, PARAMETER_PROBES],
  ["includes", INCLUDES, INCLUDE_PROBES],
  ["items", ITEMS, ITEM_PROBES],
  ["parts", PARTS, PART_PROBES],
  ["tools", TOOLS, TOOL_PROBES],
  ["features", FEATURES, FEATURE_PROBES],
];

describe("the matrix", () => {
  for (const [group, table, probes] of GROUPS) {
    it(`has a row for everything that is tried, and the other way round: ${group}`, () => {
      assert.deepEqual(Object.keys(table).sort(), Object.keys(probes).sort());
    });
  }
});

for (const column of COLUMNS) {
  describe(`the matrix over ${column}`, () => {
    const context = suiteContext();
    let world: World | undefined;
    before(async () => {
      world = await openWorld(context, column);
    });

    for (const [group, table, probes] of GROUPS) {
      for (const [name, probe] of Object.entries(probes)) {
        const todo = OPEN[`${column}: ${name}`] ?? OPEN[name] ?? false;
        it(`does with ${group} as it says: ${name}`, { todo }, async () => {
          const found = await runProbe(probe, world ?? assert.fail());
          const row = table[name];
          assert.equal(found, row === undefined ? "a row of the table" : cellOf(row, column));
        });
      }
    }
  });
}
