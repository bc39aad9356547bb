/** Which functions were entered, in order, while a walk was recorded. */

import { withoutFeatures } from "./features.js";
import { folderOf, roomOf } from "./places.js";

/** Rooms that all others use: going into one of them is not a change. */
const GROUND = new Set(["base", "protocol", "version.ts"]);

let entered;

globalThis.walkOf = (path) => (name) => {
  entered?.push([path, name]);
};

/** Records what is entered until `stop` is called. */
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
    "changes of room": countChanges(walk, roomOf).total,
    "changes of folder": countChanges(walk, folderOf).total,
    pairs: countChanges(walk, roomOf).pairs,
    entered: listEntered(walk),
    shared: toShared(withoutFeatures(walk)),
  };
}

function toShared(walk) {
  return {
    files: new Set(walk.map(([path]) => path)).size,
    "changes of room": countChanges(walk, roomOf).total,
  };
}

/** Each function once, where it is first entered, with the number of its calls. */
function listEntered(walk) {
  const functions = new Map();
  for (const [path, name] of walk) {
    const key = `${path} ${name}`;
    const known = functions.get(key);
    if (known) known.calls += 1;
    else functions.set(key, { path, name, calls: 1 });
  }
  return [...functions.values()];
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
