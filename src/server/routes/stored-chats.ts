/** Routes of stored chat completions: list, show, change their metadata, delete. */

import type { ChatsApi } from "../../responses/chat/stored-chats.ts";
import { type Route, toJson } from "../route.ts";

const PATH = "/v1/chat/completions";

export function createStoredChatRoutes(api: ChatsApi): Route[] {
  const common = { scope: "responses", speaks: "chat" } as const;
  return [
    {
      method: "GET",
      path: PATH,
      summary: "List stored chat completions, by `model` and `metadata[KEY]` if you like",
      ...common,
      handle: async ({ query, caller }) => toJson(await api.list(query, caller)),
    },
    {
      method: "GET",
      path: `${PATH}/:id`,
      summary: "Retrieve a stored chat completion",
      ...common,
      handle: async ({ params, caller }) => toJson(await api.get(params["id"] ?? "", caller)),
    },
    {
      method: "GET",
      path: `${PATH}/:id/messages`,
      summary: "List the input messages of a stored chat completion",
      ...common,
      handle: async ({ params, query, caller }) =>
        toJson(await api.messages(params["id"] ?? "", query, caller)),
    },
    {
      method: "POST",
      path: `${PATH}/:id`,
      summary: "Replace the metadata of a stored chat completion",
      ...common,
      handle: async ({ params, json, caller }) =>
        toJson(await api.update(params["id"] ?? "", await json(), caller)),
    },
    {
      method: "DELETE",
      path: `${PATH}/:id`,
      summary: "Delete a stored chat completion",
      ...common,
      handle: async ({ params, caller }) => toJson(await api.delete(params["id"] ?? "", caller)),
    },
  ];
}
