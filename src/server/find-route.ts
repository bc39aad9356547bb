/** Finds the route of a request by its method and path. */

import { Failure } from "../base/failure.ts";
import { pathBehind } from "./path-prefix.ts";
import type { Route, Speaks } from "./route.ts";
import { toNothingThere } from "./unserved.ts";

export interface FoundRoute {
  readonly route: Route;
  /** For example `POST /v1/responses/:id`. */
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
}

export interface FindRoute {
  (method: string, path: string): FoundRoute;
  /**
   * The API of an address, whatever the method; undefined where several share it, or there is none. An address that
   * there is not has the API of the nearest one above it: `/v1/messages/batches` is of the Messages API.
   */
  speaksAt(path: string | undefined): Speaks | undefined;
}

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
  readonly name: string;
}

/**
 * Rejects with `not_found`, or with `wrong_method` if the address exists. Fixed segments win over parameters. HEAD is
 * GET without its body, and a slash at the end of an address is ignored.
 */
export function createFindRoute(routes: readonly Route[]): FindRoute {
  const patterns = routes.map((route): Pattern => {
    return { route, segments: route.path.split("/"), name: `${route.method} ${route.path}` };
  });
  /** An address may have thousands of segments, and anybody may ask for it. */
  const longest = Math.max(...patterns.map(({ segments }) => segments.length));
  const fixed = new Map(
    patterns.map(({ route, name }): [string, FoundRoute] => [name, { route, name, params: {} }]),
  );

  const findRoute = (asked: string, path: string): FoundRoute => {
    const method = asked === "HEAD" ? "GET" : asked;
    const known = fixed.get(`${method} ${path}`);
    if (known) return known;
    return find(method, withoutSlash(path));
  };
  return Object.assign(findRoute, {
    speaksAt: (path = "") => findAbove(withoutSlash(path).split("/"))?.route.speaks,
  });

  function fittingOf(segments: readonly string[]): Pattern[] {
    return patterns.filter((pattern) => fits(pattern.segments, segments));
  }

  function findAbove(segments: readonly string[]): Pattern | undefined {
    for (let count = Math.min(segments.length, longest); count > 1; count--) {
      const [found] = fittingOf(segments.slice(0, count));
      if (found) return found;
    }
    return undefined;
  }

  function find(method: string, path: string): FoundRoute {
    const known = fixed.get(`${method} ${path}`);
    if (known) return known;
    const segments = path.split("/");
    const fitting = fittingOf(segments);
    const found = fitting.find(({ route }) => route.method === method);
    if (found) return { ...found, params: readParams(found.segments, segments) };
    if (fitting.length === 0) throw new Failure("not_found", toNothingThere(path));
    const methods = fitting.map(({ route }) => route.method).join(", ");
    throw new Failure("wrong_method", `\`${path}\` takes ${methods}, not ${method}.`);
  }
}

/**
 * Returns a function that is true for paths that a route serves, whichever the method. The prefix is part of the
 * path.
 */
export function createServes(routes: readonly Route[], prefix: string): (path: string) => boolean {
  const all = routes.map(({ path }) => path.split("/"));
  return (path) => {
    const behind = pathBehind(prefix, path);
    if (behind === undefined) return false;
    const segments = withoutSlash(behind).split("/");
    return all.some((pattern) => fits(pattern, segments));
  };
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=[^/])\/$/, "");
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, at) =>
    part.startsWith(":") ? segments[at] !== "" : part === segments[at],
  );
}

/** Ids are only text: a slash or dots in one are harmless, because no file path is made of it. */
function readParams(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    if (part.startsWith(":")) params[part.slice(1)] = decode(segments[at] ?? "");
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new Failure("invalid_request", "The address has an invalid escape sequence.", { cause });
  }
}
