/** Routes of conversations and their items. */

import type { ConversationsApi } from "../../responses/api/conversations-api.ts";
import { checkConversationId } from "../../responses/request/conversation-id.ts";
import { readOnce } from "../../responses/tenant/idempotency.ts";
import { type Route, type RouteCall, readOptional, toJson } from "../route.ts";

export function createConversationRoutes(api: ConversationsApi): Route[] {
  return [...toConversationRoutes(api), ...toItemRoutes(api)].map(withCheckedId);
}

function withCheckedId(route: Route): Route {
  return {
    ...route,
    async handle(call) {
      const { id } = call.params;
      if (id !== undefined) checkConversationId(id, "conversation_id");
      return await route.handle(call);
    },
  };
}

const ONE = "/v1/conversations/:id";

function toConversationRoutes(api: ConversationsApi): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/conversations",
      summary: "Create a conversation, with up to 20 items",
      scope: "responses",
      async handle(call) {
        const body = await readOptional(call);
        const once = readOnce(call.request.headers, "POST /v1/conversations", body);
        return toJson(await api.create(body, call.caller, once));
      },
    },
    {
      method: "GET",
      path: ONE,
      summary: "Retrieve a conversation",
      scope: "responses",
      handle: async ({ params, caller }) => toJson(await api.get(params["id"] ?? "", caller)),
    },
    {
      method: "POST",
      path: ONE,
      summary: "Replace the metadata of a conversation",
      scope: "responses",
      handle: async (call) =>
        toJson(await api.update(call.params["id"] ?? "", call.caller, await call.json())),
    },
    {
      method: "DELETE",
      path: ONE,
      summary: "Delete a conversation with all its items",
      scope: "responses",
      handle: async ({ params, caller }) => toJson(await api.delete(params["id"] ?? "", caller)),
    },
  ];
}

function toItemRoutes(api: ConversationsApi): Route[] {
  const toPlace = ({ params }: RouteCall): { conversationId: string; itemId: string } => {
    return { conversationId: params["id"] ?? "", itemId: params["item_id"] ?? "" };
  };
  const toRequest = ({ params, query }: RouteCall): Parameters<typeof api.listItems>[0] => {
    return { conversationId: params["id"] ?? "", query };
  };
  return [
    {
      method: "POST",
      path: `${ONE}/items`,
      summary: "Add up to 20 items to a conversation",
      scope: "responses",
      handle: async (call) =>
        toJson(await api.createItems(toRequest(call), call.caller, await call.json())),
    },
    {
      method: "GET",
      path: `${ONE}/items`,
      summary: "List the items of a conversation",
      scope: "responses",
      handle: async (call) => toJson(await api.listItems(toRequest(call), call.caller)),
    },
    {
      method: "GET",
      path: `${ONE}/items/:item_id`,
      summary: "Retrieve an item of a conversation",
      scope: "responses",
      handle: async (call) => toJson(await api.getItem(toPlace(call), call.caller, call.query)),
    },
    {
      method: "DELETE",
      path: `${ONE}/items/:item_id`,
      summary: "Delete an item of a conversation",
      scope: "responses",
      handle: async (call) => toJson(await api.deleteItem(toPlace(call), call.caller)),
    },
  ];
}
