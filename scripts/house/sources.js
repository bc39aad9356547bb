/** The TypeScript files of `src`, read once: their lines, what they import and how often they assert a type. */

import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { ROOT } from "../packages.js";
import { readShape } from "./shape.js";
import { parse, walkNodes } from "./syntax.js";

/** In order of their paths below the folder, `responses/api/api.ts`. */
export function readSources(folder = join(ROOT, "src")) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .sort()
    .map((path) => readSource(folder, path));
}

function readSource(folder, path) {
  const text = readFileSync(join(folder, path), "utf8");
  const tree = parse(text, "ts");
  const imports = [];
  let asserted = 0;
  walkNodes(tree, (node) => {
    const found = toImport(node);
    if (found?.from.startsWith(".")) {
      imports.push({ ...found, from: posix.join(posix.dirname(path), found.from) });
    }
    if (node.type === "TSAsExpression" && !isConst(node.typeAnnotation)) asserted += 1;
  });
  const lines = text.split("\n").length - 1;
  return { path, lines, imports, asserted, ...readShape(text, tree) };
}

/** `as const` asserts nothing. */
function isConst({ typeName }) {
  return typeName?.name === "const";
}

/** `value`: loaded with the file. `late`: `import()`. `type`: erased by the compiler. */
function toImport(node) {
  const from = node.source?.value;
  if (typeof from !== "string") return undefined;
  switch (node.type) {
    case "ImportExpression":
      return { from, how: "late" };
    case "TSImportType":
      return { from, how: "type" };
    case "ImportDeclaration":
      return { from, how: howLoaded(node.importKind, node.specifiers, "importKind") };
    case "ExportNamedDeclaration":
      return { from, how: howLoaded(node.exportKind, node.specifiers, "exportKind") };
    default:
      return { from, how: "value" };
  }
}

/** An import of types alone is erased as a whole. */
function howLoaded(kind, specifiers, field) {
  const areTypes = specifiers.length > 0 && specifiers.every((one) => one[field] === "type");
  return kind === "type" || areTypes ? "type" : "value";
}
