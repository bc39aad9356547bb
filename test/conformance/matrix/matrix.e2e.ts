/** Tests the matrix cell by cell: one server for each provider, one request for each cell. */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { suiteContext } from "../provider-servers.ts";
import { COLUMNS, cellOf, GROUPS, type GroupName, type Row } from "./cells.ts";
import { FEATURE_PROBES } from "./feature-probes.ts";
import { INCLUDE_PROBES } from "./include-probes.ts";
import { ITEM_PROBES } from "./item-probes.ts";
import { PARAMETER_PROBES } from "./parameter-probes.ts";
import { PART_PROBES } from "./part-probes.ts";
import { type Probe, runProbe, type World } from "./probe.ts";
import { TOOL_PROBES } from "./tool-probes.ts";
import { openWorld } from "./world.ts";

/**
 * Cells that do not match the table yet, by column and name: they are tried, and shown as open. A row is
 * removed when it is fixed.
 */
const OPEN: Readonly<Record<string, string>> = {};

/** How each row of a table is tried. */
const PROBES: Readonly<Record<GroupName, Readonly<Record<string, Probe>>>> = {
  parameters: { ...PARAMETER_PROBES, ...INCLUDE_PROBES },
  tools: TOOL_PROBES,
  items: ITEM_PROBES,
  parts: PART_PROBES,
  features: FEATURE_PROBES,
};

describe("the matrix", () => {
  for (const { name, rows } of GROUPS) {
    it(`has a row for everything that is tried, and only for that: ${name}`, () => {
      assert.deepEqual(Object.keys(rows).sort(), Object.keys(PROBES[name]).sort());
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

    for (const { name: group, rows } of GROUPS) {
      for (const [name, probe] of Object.entries(PROBES[group])) {
        const todo = OPEN[`${column}: ${name}`] ?? OPEN[name] ?? false;
        it(`treats ${group} as the table says: ${name}`, { todo }, async () => {
          const found = await runProbe(probe, world ?? assert.fail());
          const row = (rows as Readonly<Record<string, Row>>)[name];
          assert.equal(found, row === undefined ? "a row of the table" : cellOf(row, column));
        });
      }
    }
  });
}
