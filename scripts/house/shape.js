/** What is counted in one file beside its size: functions, words of its comments, and ways around the types. */

import { walkNodes } from "./syntax.js";

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const BLOCKS = new Set([
  "IfStatement",
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
  "WhileStatement",
  "DoWhileStatement",
  "SwitchStatement",
  "TryStatement",
]);
const TYPES = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration"]);
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
/** Words that the docs do not use; their plain ones are in docs/plain-words.md. */
export const DIALECT =
  /\b(behind|anew|mend|but for|nobody|somebody|whoever|told of|goes on|is no|are no)\b/gi;

/** `tree` is the parsed `text`. */
export function readShape(text, tree) {
  const lines = text.split("\n");
  const shape = {
    any: 0,
    unknownCasts: 0,
    nonNull: 0,
    exportAll: 0,
    packed: 0,
    functions: [],
    types: [],
    allTypes: [],
    dialectInStrings: 0,
  };
  walkNodes(tree, (node, parent) => {
    const counted = toCounted(node);
    if (counted) shape[counted] += 1;
    if (FUNCTIONS.has(node.type) && node.body) shape.functions.push(toFunction(text, node));
    const type = toExportedType(node, parent);
    if (type) shape.types.push(type);
    if (TYPES.has(node.type)) shape.allTypes.push(node.id.name);
    shape.dialectInStrings += toText(node).match(DIALECT)?.length ?? 0;
  });
  const comments = text.match(COMMENT) ?? [];
  return {
    ...shape,
    codeLines: countCode(text),
    deep: lines.filter((line) => /^ {12,}\S/.test(line)).length,
    commentLines: comments.reduce((sum, one) => sum + one.trim().split("\n").length, 0),
    dialect: comments.reduce((sum, one) => sum + (one.match(DIALECT)?.length ?? 0), 0),
    ignored: text.match(/@ts-(ignore|expect-error|nocheck)/g)?.length ?? 0,
    lintOff: text.match(/biome-ignore/g)?.length ?? 0,
  };
}

/** Lines without comments, imports and empty ones: what there is to understand. */
function countCode(text) {
  const code = text.replace(COMMENT, "").replace(/^import\s[^;]*;\n/gm, "");
  return code.split("\n").filter((line) => line.trim() !== "").length;
}

/** The field of the shape that a node adds to. */
function toCounted({ type, expression, argument }) {
  switch (type) {
    case "TSAnyKeyword":
      return "any";
    case "TSNonNullExpression":
      return "nonNull";
    case "ExportAllDeclaration":
      return "exportAll";
    case "TSAsExpression":
      return expression.type === "TSAsExpression" ? "unknownCasts" : undefined;
    case "SpreadElement":
      return argument.type === "ObjectExpression" ? "packed" : undefined;
    default:
      return undefined;
  }
}

function toFunction(text, { start, end, params, body }) {
  const lines = text.slice(start, end).split("\n").length;
  return { lines, params: params.length, depth: depthOf(body) };
}

/** Most blocks inside each other, without those of functions inside. `else if` is beside its `if`, not inside it. */
function depthOf(node) {
  let deepest = 0;
  for (const key in node) {
    for (const one of [node[key]].flat()) {
      if (typeof one?.type !== "string" || FUNCTIONS.has(one.type)) continue;
      const isElseIf = key === "alternate" && one.type === "IfStatement";
      deepest = Math.max(deepest, depthOf(one) + (BLOCKS.has(one.type) && !isElseIf ? 1 : 0));
    }
  }
  return deepest;
}

function toExportedType({ type, id }, parent) {
  if (parent?.type !== "ExportNamedDeclaration") return undefined;
  return TYPES.has(type) ? id.name : undefined;
}

/** The text of a string, or of a piece of a template. */
function toText({ type, value }) {
  if (type === "Literal" && typeof value === "string") return value;
  return type === "TemplateElement" ? String(value.cooked ?? "") : "";
}
