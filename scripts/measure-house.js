/**
 * `node scripts/measure-house.js [FOLDER]`: the shape of `src`, or of that of another clone, by room. Sizes of files
 * and functions, ways around the types, files that one other file imports, types that share a name, and knots: files
 * or folders that import each other in a circle, so that none of them can be read before the others. Reads sources
 * alone; takes about three seconds.
 *
 * The second table has the rows of docs/shape.md, in its words. `--write` puts its numbers into that page. `--check` fails if a
 * number that the page calls better or equal is worse than it was then.
 */

import { join } from "node:path";
import { BY_ALL, BY_VALUE, countIn, itself, toKnots } from "./house/graph.js";
import { findCrumbs, findShared, findUsedOnce, measureShape } from "./house/measures.js";
import { folderOf, roomOf } from "./house/places.js";
import { findWorse, writePage } from "./house/shape-page.js";
import { readSources } from "./house/sources.js";
import { ROOT } from "./packages.js";

const [folder = join(ROOT, "src")] = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const sources = readSources(folder);
const once = new Set(findUsedOnce(sources));

const rooms = [...new Set(sources.map(({ path }) => roomOf(path)))].filter(
  (room) => !room.endsWith(".ts"),
);
const shape = measureShape(sources, folder);

if (process.argv.includes("--check")) check();
else print();

function print() {
  printSizes();
  console.log(`\n${toText(shape)}`);
  if (process.argv.includes("--write")) writePage(shape);
  printNames();
  printKnots("files", itself);
  printKnots("folders", folderOf);
  printCrumbs();
}

function check() {
  const worse = findWorse(shape);
  for (const { name, then, now } of worse) console.error(`${name}: ${then} then, ${now} now`);
  process.exitCode = worse.length > 0 ? 1 : 0;
}

function printSizes() {
  const columns = ["room", "files", "lines", "median", "p90", "max", "as/1000", "one importer"];
  const rows = rooms.map((room) => [room, sources.filter(({ path }) => roomOf(path) === room)]);
  const table = [["src", sources], ...rows].map(([name, files]) => [name, ...measure(files)]);
  console.log(toText([columns, ...table]));
}

function measure(files) {
  const sizes = files.map(({ lines }) => lines).sort((a, b) => a - b);
  const lines = sizes.reduce((sum, size) => sum + size, 0);
  const at = (share) => sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * share))];
  const asserted = files.reduce((sum, file) => sum + file.asserted, 0);
  const single = files.filter((file) => once.has(file)).length;
  const perThousand = ((1000 * asserted) / lines).toFixed(1);
  return [files.length, lines, at(0.5), at(0.9), sizes.at(-1), perThousand, single];
}

/** One word, one meaning: exported types that several files declare. */
function printNames() {
  const shared = findShared(sources, "types");
  const names = shared.map(([name, paths]) => `${name} ${paths.length}`).sort();
  console.log(`\n${shared.length} exported types with a name that several files declare`);
  console.log(`  ${names.join(", ")}`);
}

function printKnots(what, nodeOf) {
  for (const [name, hows] of [
    ["values", BY_VALUE],
    ["values and types", BY_ALL],
  ]) {
    const knots = toKnots(sources, nodeOf, hows);
    console.log(`\n${countIn(knots)} ${what} in ${knots.length} knots, by ${name}`);
    for (const knot of knots) console.log(`  ${knot.length}: ${shorten(knot)}`);
  }
}

function printCrumbs() {
  const crumbs = findCrumbs(sources);
  console.log(`\n${crumbs.length} files under 45 lines whose one importer is in their folder`);
  for (const { path, lines } of crumbs) console.log(`  ${path} ${lines}`);
}

function shorten(knot) {
  return knot.length > 20 ? `${knot.slice(0, 20).join(" ")} …` : knot.join(" ");
}

function toText(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => String(row[at]).length)));
  const toCell = (cell, at) =>
    at === 0 ? String(cell).padEnd(widths[at]) : String(cell).padStart(widths[at]);
  return rows.map((row) => row.map(toCell).join("  ").trimEnd()).join("\n");
}
