/** The rows of docs/shape.md, in its words: what is counted over all files of `src`, `web` and `test`. */

import { join } from "node:path";
import { countCircles } from "./graph.js";
import { folderOf } from "./places.js";
import { countDialect, readNames, readTexts } from "./texts.js";

/** `folder` is that of the `sources`. What grows with the code is a rate, with the count in brackets. */
export function measureShape(sources, folder) {
  const sum = (field) => sources.reduce((total, file) => total + file[field], 0);
  const functions = sources.flatMap((file) => file.functions);
  const lengths = functions.map(({ lines }) => lines).sort((a, b) => a - b);
  const sizes = sources.map(({ lines }) => lines).sort((a, b) => a - b);
  const codeSizes = sources.map(({ codeLines }) => codeLines).sort((a, b) => a - b);
  const perLines = (count) => `${((1000 * count) / sum("lines")).toFixed(2)} (${count})`;
  const perFunctions = (isSo) => {
    const count = functions.filter(isSo).length;
    return `${((1000 * count) / functions.length).toFixed(1)} (${count})`;
  };
  const params = functions.reduce((total, one) => total + one.params, 0) / functions.length;
  const ways = sum("any") + sum("nonNull") + sum("ignored") + sum("exportAll");
  const folders = new Set(sources.map(({ path }) => folderOf(path))).size;
  const circles = countCircles(sources);
  return [
    ["files", sources.length],
    ["lines", sum("lines")],
    ["lines of a file: median, p90, max", threeOf(sizes)],
    ["the same without comments, imports and empty lines", threeOf(codeSizes)],
    ["files over 400 lines", sizes.filter((size) => size > 400).length],
    ["functions", functions.length],
    ["functions: median, p90, max lines", threeOf(lengths)],
    ["functions over 60 lines, for each 1,000", perFunctions(({ lines }) => lines > 60)],
    ["functions with 4 or more blocks inside each other, for each 1,000", perFunctions(isDeep)],
    ["parameters on average", params.toFixed(2)],
    ["functions with more than 4 parameters", functions.filter((one) => one.params > 4).length],
    ["`as`, for each 1,000 lines", perLines(sum("asserted"))],
    ["double assertions, for each 1,000 lines", perLines(sum("unknownCasts"))],
    ["`any`, `!`, `@ts-ignore`, `export *`", ways],
    ["lint switched off, for each 1,000 lines", perLines(sum("lintOff"))],
    ["lines of comments", shareOf(sum("commentLines"), sum("lines"))],
    ["lines 6 or more deep", shareOf(sum("deep"), sum("lines"))],
    ["files with one importer", shareOf(findUsedOnce(sources).length, sources.length)],
    ["files in circles of values", circles.files],
    ["files in circles of values and types", circles.filesWithTypes],
    [
      "folders in circles of values",
      `${shareOf(circles.folders, folders)} (${circles.folders} of ${folders})`,
    ],
    ["exported types that share a name", findShared(sources, "types").length],
    ["type names that several files declare, for each 1,000 lines", perLines(countLocal(sources))],
    ["`...{ a, b }` inside objects, for each 1,000 lines", perLines(sum("packed"))],
    ["words of the old dialect in comments, for each 1,000 lines", perLines(sum("dialect"))],
    [
      "words of the old dialect in strings, for each 1,000 lines",
      perLines(sum("dialectInStrings")),
    ],
    ...measureOthers(join(folder, "..")),
    ["files under 45 lines whose one importer is in their folder", findCrumbs(sources).length],
  ];
}

/** The console and the tests. */
function measureOthers(root) {
  const web = readTexts(join(root, "web"));
  const tests = readTexts(join(root, "test"));
  const names = readNames(tests);
  const short = names.filter((name) => name.split(" ").length < 3);
  const perThousand = (count, all) =>
    all === 0 ? "–" : `${((1000 * count) / all).toFixed(2)} (${count})`;
  return [
    ["words of the old dialect in `web`, for each 1,000 lines", perThousand(...countDialect(web))],
    [
      "words of the old dialect in tests, for each 1,000 lines",
      perThousand(...countDialect(tests)),
    ],
    ["test names of one or two words, for each 1,000", perThousand(short.length, names.length)],
  ];
}

function threeOf(sorted) {
  const at = (share) => sorted[Math.floor(sorted.length * share)];
  return `${at(0.5)}, ${at(0.9)}, ${sorted.at(-1)}`;
}

function shareOf(part, all) {
  return `${((100 * part) / all).toFixed(1)}%`;
}

function isDeep({ depth }) {
  return depth >= 4;
}

/** Names of types that several files declare. `field`: `types` for those that are exported, `allTypes` for all. */
export function findShared(sources, field) {
  const places = new Map();
  for (const { path, [field]: types } of sources) {
    for (const type of types) places.set(type, [...(places.get(type) ?? []), path]);
  }
  return [...places].filter(([, paths]) => paths.length > 1);
}

function countLocal(sources) {
  return findShared(sources, "allTypes").length;
}

function importersOf(sources, path) {
  return sources.filter(({ imports }) => imports.some(({ from }) => from === path));
}

export function findUsedOnce(sources) {
  return sources.filter(({ path }) => importersOf(sources, path).length === 1);
}

/** Small files that one file of their folder imports, and no other. */
export function findCrumbs(sources) {
  return findUsedOnce(sources).filter(({ path, lines }) => {
    const [only] = importersOf(sources, path);
    return lines < 45 && folderOf(only.path) === folderOf(path);
  });
}
