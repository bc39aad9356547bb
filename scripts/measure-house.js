/**
 * `node scripts/measure-house.js [FOLDER]`: the shape of `src`, or of that of another clone, by room. Sizes of files
 * and functions, ways around the types, files that one other file imports, types that share a name, and knots: files
 * or folders that import each other in a circle, so that none of them can be read before the others. Reads sources
 * alone; takes about three seconds.
 */

import { findKnots } from "./house/knots.js";
import { folderOf, roomOf } from "./house/places.js";
import { readSources } from "./house/sources.js";

const sources = readSources(process.argv[2]);
const rooms = [...new Set(sources.map(({ path }) => roomOf(path)))].filter(
  (room) => !room.endsWith(".ts"),
);

printSizes();
printShape();
printNames();
printKnots("files", (path) => path);
printKnots("folders", folderOf);

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
  const single = files.filter(({ path }) => importersOf(path) === 1).length;
  const perThousand = ((1000 * asserted) / lines).toFixed(1);
  return [files.length, lines, at(0.5), at(0.9), sizes.at(-1), perThousand, single];
}

/** For all rooms together. */
function printShape() {
  const sum = (field) => sources.reduce((total, file) => total + file[field], 0);
  const functions = sources.flatMap((file) => file.functions);
  const lengths = functions.map(({ lines }) => lines).sort((a, b) => a - b);
  const at = (share) => lengths[Math.floor(lengths.length * share)];
  const count = (isSo) => functions.filter(isSo).length;
  const share = (part) => `${((100 * part) / sum("lines")).toFixed(1)}%`;
  const params = functions.reduce((total, one) => total + one.params, 0) / functions.length;
  const rows = [
    ["files over 400 lines", sources.filter(({ lines }) => lines > 400).length],
    ["files under 30 lines", sources.filter(({ lines }) => lines < 30).length],
    ["files with one function", sources.filter((file) => file.functions.length === 1).length],
    ["lines of comments", share(sum("commentLines"))],
    ["lines 6 or more deep", share(sum("deep"))],
    ["functions", functions.length],
    ["their lines: median, p90, max", `${at(0.5)}, ${at(0.9)}, ${lengths.at(-1)}`],
    ["functions over 60 lines", count(({ lines }) => lines > 60)],
    ["functions with 4 or more blocks inside each other", count(({ depth }) => depth >= 4)],
    ["parameters on average", params.toFixed(2)],
    ["functions with more than 4", count(({ params: given }) => given > 4)],
    ["`any`", sum("any")],
    ["`as unknown as` and other double assertions", sum("unknownCasts")],
    ["`!`", sum("nonNull")],
    ["`@ts-ignore` and the like", sum("ignored")],
    ["lint switched off", sum("lintOff")],
    ["`export *`", sum("exportAll")],
    ["`...{ a, b }` inside objects", sum("packed")],
    ["words of the old dialect in comments", sum("dialect")],
  ];
  console.log(`\n${toText(rows)}`);
}

/** One word, one meaning: exported types that several files declare. */
function printNames() {
  const places = new Map();
  for (const { path, types } of sources) {
    for (const type of types) places.set(type, [...(places.get(type) ?? []), path]);
  }
  const shared = [...places].filter(([, paths]) => paths.length > 1);
  const names = shared.map(([name, paths]) => `${name} ${paths.length}`).sort();
  console.log(`\n${shared.length} exported types with a name that several files declare`);
  console.log(`  ${names.join(", ")}`);
}

function importersOf(path) {
  return sources.filter(({ imports }) => imports.some(({ from }) => from === path)).length;
}

/** `nodeOf` says what is one node of the graph: a file, or its folder. */
function printKnots(what, nodeOf) {
  const ways = [
    ["values", ["value"]],
    ["values and types", ["value", "late", "type"]],
  ];
  for (const [name, hows] of ways) {
    const knots = findKnots(toGraph(nodeOf, hows));
    const sum = knots.reduce((total, knot) => total + knot.length, 0);
    console.log(`\n${sum} ${what} in ${knots.length} knots, by ${name}`);
    for (const knot of knots) console.log(`  ${knot.length}: ${shorten(knot)}`);
  }
}

/** Folders are compared inside their room: the rooms have an order of their own. */
function toGraph(nodeOf, hows) {
  const graph = new Map(sources.map(({ path }) => [nodeOf(path), new Set()]));
  for (const { path, imports } of sources) {
    for (const { from, how } of imports) {
      const [node, to] = [nodeOf(path), nodeOf(from)];
      if (node === to || !hows.includes(how)) continue;
      if (nodeOf === folderOf && roomOf(path) !== roomOf(from)) continue;
      graph.get(node)?.add(to);
    }
  }
  return graph;
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
