/**
 * Writes arguments that come as values with a path (`$.recipe.steps[0]`) as JSON text while they arrive.
 * The paths follow the document, so that text can be emitted at once. A value that comes out of order is
 * held back, and its top-level field is written again at the end, because JSON readers use the last value
 * of a field.
 */

import type { Json, JsonObject } from "../../base/json.ts";
import type { GeminiPartialArg } from "./schema.ts";

/** A larger index into a list cannot be an argument of a model. */
const MAX_INDEX = 100_000;

type Path = readonly (string | number)[];

/** An object or a list whose text is not closed yet. */
interface OpenContainer {
  readonly kind: "object" | "list";
  readonly keys: Set<string | number>;
  /** The entry that was written last. */
  current: string | number | undefined;
}

type Tree = { [key: string | number]: Tree | Json };

export class ArgumentsWriter {
  readonly #root: Tree = createTree();
  readonly #open: OpenContainer[] = [];
  readonly #late = new Set<string>();
  /** The path whose text continues with the next piece. */
  #unfinished: string | undefined;
  /** True if that text is open in the emitted text, false if it is held back. */
  #isQuoted = false;
  #text = "";

  /** All emitted text. */
  get text(): string {
    return this.#text;
  }

  /** Writes one value and returns the text that it adds. */
  write(partial: GeminiPartialArg): string {
    const jsonPath = partial.jsonPath ?? "";
    const path = parsePath(jsonPath);
    const value = toValue(partial);
    if (path.length === 0 || value === undefined) return "";
    const isContinued = typeof value === "string" && this.#unfinished === jsonPath;
    setValue(this.#root, path, { value, isMore: isContinued });
    const willContinue = typeof value === "string" && partial.willContinue === true;
    const from = this.#text.length;
    if (!isContinued) this.#begin(path, value);
    else if (this.#isQuoted) this.#text += escaped(String(value));
    if (!willContinue) this.#endQuote();
    this.#unfinished = willContinue ? jsonPath : undefined;
    return this.#text.slice(from);
  }

  /** Closes the document and returns the text that closes it. */
  end(): string {
    const from = this.#text.length;
    this.#endQuote();
    if (this.#open.length === 0) this.#push("object");
    this.#closeTo(1);
    for (const key of this.#late) {
      this.#key(key);
      this.#text += JSON.stringify(this.#root[key]);
    }
    this.#closeTo(0);
    return this.#text.slice(from);
  }

  #begin(path: Path, value: Json): void {
    this.#endQuote();
    const depth = this.#findPlace(path);
    if (depth === undefined) {
      this.#late.add(String(path[0]));
      return;
    }
    if (this.#open.length === 0) this.#push("object");
    this.#closeTo(depth + 1);
    for (const [at, key] of path.entries()) {
      if (at < depth) continue;
      if (at > depth) this.#push(typeof key === "number" ? "list" : "object");
      this.#key(key);
    }
    if (typeof value !== "string") this.#text += JSON.stringify(value);
    else {
      this.#isQuoted = true;
      this.#text += `"${escaped(value)}`;
    }
  }

  /**
   * The depth of the open container for the path's next new entry; undefined if the entry comes out of
   * order.
   */
  #findPlace(path: Path): number | undefined {
    if (this.#late.has(String(path[0]))) return undefined;
    let depth = 0;
    while (
      depth < this.#open.length - 1 &&
      depth < path.length - 1 &&
      this.#open[depth]?.current === path[depth]
    ) {
      depth++;
    }
    const container = this.#open[depth];
    const key = path[depth] ?? "";
    const isFirst = path.slice(depth + 1).every((step) => step === 0 || typeof step === "string");
    if (!container) return isFirst && typeof key === "string" ? depth : undefined;
    const fits =
      container.kind === "list"
        ? key === container.keys.size
        : typeof key === "string" && !container.keys.has(key);
    return fits && isFirst ? depth : undefined;
  }

  #key(key: string | number): void {
    const container = this.#open.at(-1);
    if (!container) return;
    if (container.keys.size > 0) this.#text += ",";
    container.keys.add(key);
    container.current = key;
    if (container.kind === "object") this.#text += `${JSON.stringify(key)}:`;
  }

  #push(kind: OpenContainer["kind"]): void {
    this.#open.push({ kind, keys: new Set(), current: undefined });
    this.#text += kind === "list" ? "[" : "{";
  }

  #closeTo(depth: number): void {
    while (this.#open.length > depth) this.#text += this.#open.pop()?.kind === "list" ? "]" : "}";
  }

  #endQuote(): void {
    if (this.#isQuoted) this.#text += '"';
    this.#isQuoted = false;
  }
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** The steps after `$`; undefined for a path of another form. */
function parsePath(jsonPath: string): Path {
  const path: (string | number)[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < jsonPath.length) {
    const step = STEP.exec(jsonPath);
    if (!step) return [];
    const [, name, index, single, double] = step;
    const quoted = single ?? double;
    if (index !== undefined) path.push(Number(index));
    else path.push(name ?? (quoted ?? "").replace(/\\(.)/g, "$1"));
  }
  const isPlausible = path.every((step) => typeof step === "string" || step <= MAX_INDEX);
  return isPlausible && typeof path[0] === "string" ? path : [];
}

function toValue(partial: GeminiPartialArg): Json | undefined {
  if (typeof partial.stringValue === "string") return partial.stringValue;
  if (typeof partial.numberValue === "number") return partial.numberValue;
  if (typeof partial.boolValue === "boolean") return partial.boolValue;
  return partial.nullValue === undefined ? undefined : null;
}

function setValue(
  root: Tree,
  path: Path,
  { value, isMore }: { value: Json; isMore: boolean },
): void {
  let at = root;
  for (const [depth, key] of path.slice(0, -1).entries()) {
    const found = at[key];
    const isList = typeof path[depth + 1] === "number";
    const child = isTree(found) ? found : isList ? ([] as unknown as Tree) : createTree();
    at[key] = child;
    at = child;
  }
  const last = path.at(-1) ?? "";
  at[last] = isMore ? `${String(at[last] ?? "")}${String(value)}` : value;
}

/** Without a prototype, because a field may be called `__proto__`. */
function createTree(): Tree {
  return Object.create(null) as Tree;
}

function isTree(value: Tree | Json | undefined): value is Tree {
  return typeof value === "object" && value !== null;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The arguments as JSON text, if they came whole. */
export function toArguments(args: JsonObject | null | undefined): string {
  return JSON.stringify(args ?? {});
}
