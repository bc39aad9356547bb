/** The description of the server's addresses. It holds what the docs say and nothing of a tenant's: anybody may ask. */

import { type Route, toJson } from "../route.ts";

interface OpenApiParts {
  /** Those to describe, beside this one. */
  readonly routes: readonly Route[];
  /** In front of all addresses. */
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
      // Made for the first who asks: most servers are never asked.
      document ??= import("../openapi/document.ts").then(({ createDocument }) =>
        createDocument([...routes, route], prefix),
      );
      return toJson(await document);
    },
  };
  return [route];
}
