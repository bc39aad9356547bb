/**
 * A module hook: each named function of a compiled file of `src` reports that it was entered. `walkOf` of the global
 * scope gets the file's path and returns what the functions call.
 */

import { fileURLToPath } from "node:url";
import { parse, walkNodes } from "./syntax.js";

const BUILT = "/build/src/";

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  const file = url.startsWith("file:") ? fileURLToPath(url).replaceAll("\\", "/") : "";
  const at = file.lastIndexOf(BUILT);
  if (at < 0 || loaded.format !== "module") return loaded;
  const path = file.slice(at + BUILT.length).replace(/\.js$/, ".ts");
  return { ...loaded, source: instrument(path, String(loaded.source)) };
}

/** No code moves to another line, so that stack traces stay right. */
function instrument(path, text) {
  const added = [[0, `const walk$ = globalThis.walkOf(${JSON.stringify(path)});`]];
  walkNodes(parse(text, "js"), (node, parent) => {
    const name = FUNCTIONS.has(node.type) ? nameOf(node, parent) : undefined;
    if (name !== undefined) added.push(...toCalls(node.body, `walk$(${JSON.stringify(name)})`));
  });
  let out = "";
  let done = 0;
  for (const [at, words] of added.sort(([a], [b]) => a - b)) {
    out += text.slice(done, at) + words;
    done = at;
  }
  return out + text.slice(done);
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

function toCalls({ type, start, end }, call) {
  if (type === "BlockStatement") return [[start + 1, `${call};`]];
  return [
    [start, `(${call}, (`],
    [end, "))"],
  ];
}

/** Its own name, or that of the variable, field or method that it is the value of; undefined for a callback. */
function nameOf({ id }, { type, id: variable, key, kind }) {
  if (id) return id.name;
  if (type === "VariableDeclarator") return variable.name;
  if (type === "MethodDefinition" && kind === "constructor") return "constructor";
  if (type === "MethodDefinition" || type === "PropertyDefinition" || type === "Property") {
    return String(key.name ?? key.value);
  }
  return undefined;
}
