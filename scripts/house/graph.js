/** Files or folders of `src` that import each other in a circle. */

import { findKnots } from "./knots.js";
import { folderOf, roomOf } from "./places.js";

/** Which imports count: those that are loaded, or those that are erased, too. */
export const BY_VALUE = ["value"];
export const BY_ALL = ["value", "late", "type"];

export function itself(path) {
  return path;
}

/** `nodeOf` returns the node of the graph for a file: the file itself, or its folder. */
export function toKnots(sources, nodeOf, hows) {
  return findKnots(toGraph(sources, nodeOf, hows));
}

export function countIn(knots) {
  return knots.reduce((total, knot) => total + knot.length, 0);
}

export function countCircles(sources) {
  return {
    files: countIn(toKnots(sources, itself, BY_VALUE)),
    filesWithTypes: countIn(toKnots(sources, itself, BY_ALL)),
    folders: countIn(toKnots(sources, folderOf, BY_VALUE)),
  };
}

/** Folders are compared inside their room: the rooms have an order of their own. */
function toGraph(sources, nodeOf, hows) {
  const graph = new Map(sources.map(({ path }) => [nodeOf(path), new Set()]));
  for (const { path, imports } of sources) {
    for (const { from, how } of imports) {
      const node = nodeOf(path);
      const to = nodeOf(from);
      if (node === to || !hows.includes(how)) continue;
      if (nodeOf === folderOf && roomOf(path) !== roomOf(from)) continue;
      graph.get(node)?.add(to);
    }
  }
  return graph;
}
