/** Parses source files to trees (ESTree), with the parser of the bundler. */

import { parseAst } from "rolldown/parseAst";

/** `lang`: `ts` or `js`. */
export function parse(text, lang) {
  return parseAst(text, { lang });
}

/** Calls `visit` for each node, outer ones first, with its parent. */
export function walkNodes(node, visit, parent) {
  visit(node, parent);
  for (const key in node) {
    const value = node[key];
    if (Array.isArray(value)) {
      for (const one of value) if (isNode(one)) walkNodes(one, visit, node);
    } else if (isNode(value)) walkNodes(value, visit, node);
  }
}

function isNode(value) {
  return typeof value?.type === "string";
}
