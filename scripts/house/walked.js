/** What functions were entered, in order, while somebody listened. */

import { folderOf, roomOf } from "./places.js";

/** Rooms that all others are made of: going into one of them is not a change. */
const GROUND = new Set(["base", "protocol", "version.ts"]);

let entered;

globalThis.walkOf = (path) => (name) => {
  entered?.push([path, name]);
};

/** What is entered until `stop` is called. */
export function startWalk() {
  entered = [];
}

export function stopWalk() {
  const walk = entered ?? [];
  entered = undefined;
  return {
    files: new Set(walk.map(([path]) => path)).size,
    functions: new Set(walk.map(([path, name]) => `${path} ${name}`)).size,
    calls: walk.length,
    "room changes": countChanges(walk, roomOf).total,
    "folder changes": countChanges(walk, folderOf).total,
    pairs: countChanges(walk, roomOf).pairs,
  };
}

function countChanges(walk, placeOf) {
  const pairs = new Map();
  let total = 0;
  let last;
  for (const [path] of walk) {
    if (GROUND.has(roomOf(path))) continue;
    const place = placeOf(path);
    if (last !== undefined && place !== last) {
      total += 1;
      const pair = `${last}>${place}`;
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
    }
    last = place;
  }
  return { total, pairs: [...pairs].sort(([, a], [, b]) => b - a) };
}
