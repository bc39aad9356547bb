/**
 * Globs, for names and paths: `*` and `?` stop at a slash, `**` does not, `{a,b}` is either.
 *
 * A text is read once, and all positions in the glob that fit so far are followed at the same time. Models
 * write globs, and a matcher that tries one way after another can be made to run for hours.
 */

export interface GlobPattern {
  /** Takes time in proportion to the lengths of the glob and the text. */
  test(text: string): boolean;
}

/** Compiled globs that are kept. Rules and grants are checked against every path of a listing. */
const MAX_KEPT = 500;
const kept = new Map<string, GlobPattern>();

export function matchesGlob(text: string, glob: string): boolean {
  let pattern = kept.get(glob);
  if (!pattern) {
    pattern = toGlobPattern([glob]);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(glob, pattern);
  }
  return pattern.test(text);
}

/** A pattern that fits a text if any of the globs fits it. */
export function toGlobPattern(globs: readonly string[]): GlobPattern {
  const graph: Graph = { takes: [NOTHING], next: [[]] };
  return new Reader(
    graph,
    globs.map((glob) => addGlob(graph, glob, END)),
  );
}

/**
 * The positions in a glob: which character each takes, and where that leads. A position that takes none
 * leads on by itself.
 */
interface Graph {
  readonly takes: number[];
  readonly next: (readonly number[])[];
}

/** The first position of every graph: the end of the glob. */
const END = 0;
const SLASH = 0x2f;
/** These stand in place of a character's code. */
const NOTHING = -1;
const ANY = -2;
const ANY_BUT_SLASH = -3;

/** Adds a glob that is followed by `after`; returns the position it begins at. */
function addGlob(graph: Graph, glob: string, after: number): number {
  const tokens = glob.match(/\*\*\/|\*\*|\{[^{}]*\}|./gs) ?? [];
  return tokens.reduceRight((at, token) => addToken(graph, token, at), after);
}

function addToken(graph: Graph, token: string, after: number): number {
  if (token === "**/") {
    const slash = addPlace(graph, SLASH, [after]);
    return addPlace(graph, NOTHING, [after, addMany(graph, ANY, slash)]);
  }
  if (token === "*") return addMany(graph, ANY_BUT_SLASH, after);
  if (token === "**") return addMany(graph, ANY, after);
  if (token === "?") return addPlace(graph, ANY_BUT_SLASH, [after]);
  if (token.length === 1) return addPlace(graph, token.charCodeAt(0), [after]);
  const choices = token.slice(1, -1).split(",");
  return addPlace(
    graph,
    NOTHING,
    choices.map((choice) => addGlob(graph, choice, after)),
  );
}

/** Any number of characters, or none. */
function addMany(graph: Graph, takes: number, after: number): number {
  const fork = graph.takes.length;
  addPlace(graph, NOTHING, [fork + 1, after]);
  addPlace(graph, takes, [fork]);
  return fork;
}

function addPlace({ takes, next }: Graph, take: number, places: readonly number[]): number {
  next.push(places);
  return takes.push(take) - 1;
}

/** Where a text stands in a glob: all positions that fit what was read of it. */
interface Standing {
  readonly places: readonly number[];
  readonly isEnd: boolean;
  /** Where each character leads, as far as it is known. */
  readonly next: Map<number, Standing>;
}

/** Most positions and ways between them that are kept: less than a megabyte. */
const MAX_PLACES = 10_000;

/**
 * Remembers where characters led, since most paths of a listing begin and end alike: 100,000 names against
 * the globs of secrets take 20 ms, and 600 ms when each is read from its start.
 */
class Reader implements GlobPattern {
  readonly #graph: Graph;
  readonly #from: readonly number[];
  readonly #known = new Map<string, Standing>();
  #places = 0;
  #start: Standing;

  constructor(graph: Graph, from: readonly number[]) {
    this.#graph = graph;
    this.#from = from;
    this.#start = this.#reach(from);
  }

  test(text: string): boolean {
    let standing = this.#start;
    for (let at = 0; at < text.length; at++) {
      if (standing.places.length === 0) return false;
      const code = text.charCodeAt(at);
      standing = standing.next.get(code) ?? this.#step(standing, code);
    }
    return standing.isEnd;
  }

  #step({ places, next: led }: Standing, code: number): Standing {
    if (this.#places > MAX_PLACES) this.#forget();
    const { takes, next } = this.#graph;
    const taking = places.filter((place) => isTaken(code, takes[place] ?? NOTHING));
    const standing = this.#reach(taking.flatMap((place) => next[place] ?? []));
    led.set(code, standing);
    this.#places++;
    return standing;
  }

  /** All positions that these lead to by themselves. */
  #reach(from: readonly number[]): Standing {
    const { takes, next } = this.#graph;
    const reached = new Set(from);
    // The loop also visits what is added to the set while it runs.
    for (const place of reached) {
      if (takes[place] === NOTHING) for (const further of next[place] ?? []) reached.add(further);
    }
    const places = [...reached].filter((place) => takes[place] !== NOTHING).sort((a, b) => a - b);
    return this.#know(places, reached.has(END));
  }

  #know(places: readonly number[], isEnd: boolean): Standing {
    const key = `${places.join()}${isEnd ? "." : ""}`;
    const known = this.#known.get(key);
    if (known) return known;
    const standing = { places, isEnd, next: new Map() };
    this.#known.set(key, standing);
    this.#places += places.length;
    return standing;
  }

  #forget(): void {
    this.#known.clear();
    this.#places = 0;
    this.#start = this.#reach(this.#from);
  }
}

function isTaken(code: number, take: number): boolean {
  return code === take || take === ANY || (take === ANY_BUT_SLASH && code !== SLASH);
}
