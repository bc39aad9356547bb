/**
 * The route of the API's description. It says what the docs say and nothing about tenants, so it is open to all.
 */

import { type Route, toJson } from "../route.ts";

interface OpenApiParts {
  /** The routes to describe, besides this one. */
  readonly routes: readonly Route[];
  /** The path before all addresses. */
  readonly prefix: string;
}

export function createOpenApiRoutes({ routes, prefix }: OpenApiParts): Route[] {
  let document: Promise<object> | undefined;
  const route: Route = {
    method: "GET",
    path: "/openapi.json",
    summary: "The description of all addresses, as OpenAPI 3.1",
    scope: null,
    async handle() {
      // The description is made at the first request: most servers are never asked for it.
      document ??= import("../openapi/document.ts").then(({ createDocument }) =>
        createDocument([...routes, route], prefix),
      );
      return toJson(await document);
    },
  };
  return [route];
}
