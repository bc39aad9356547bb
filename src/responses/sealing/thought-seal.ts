/**
 * `reasoning.encrypted_content` for models whose vendors seal nothing: their thoughts, sealed by this server. Clients
 * that keep their own history send it back, some of them without the rest of the thought.
 */

import { asJson } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import type { Item, Reasoning } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { ModelRequest, Provider } from "../../providers/provider.ts";
import { asksForSeal } from "../fold/show-item.ts";
import { createTenantSeal } from "./tenant-seal.ts";

export interface ThoughtSeal {
  /** The thought with its seal; unchanged if a vendor has sealed it. */
  seal(thought: Reasoning): Reasoning;
  /** The thought as it was sealed; without its seal if that is of this kind and does not open. */
  open(thought: Reasoning): Reasoning;
}

/** Differs from the prefix of compactions, so that each recognises its own. */
const PREFIX = "offshoot1r.";

type Thought = Pick<Reasoning, "summary" | "content">;

const SEALED = storedObject<Thought>("sealed reasoning", ["summary"]);

export function createThoughtSeal(serverKey: Uint8Array, tenant: string): ThoughtSeal {
  const { seal, open } = createTenantSeal(serverKey, tenant, {
    purpose: "reasoning",
    prefix: PREFIX,
  });
  return {
    seal(thought) {
      if (thought.encrypted_content) return thought;
      const { summary, content } = thought;
      const encrypted_content = seal(asJson({ summary, content }));
      return { ...thought, encrypted_content };
    },
    open(thought) {
      if (!isOurs(thought)) return thought;
      const { encrypted_content, ...shown } = thought;
      const opened = open(encrypted_content ?? "");
      return opened === undefined ? shown : { ...shown, ...SEALED.read(opened) };
    },
  };
}

/** True if a request asks for seals, or contains any. */
export function needsThoughtSeal(
  include: readonly string[] | null | undefined,
  items: readonly Item[],
): boolean {
  return asksForSeal(include) || items.some((item) => item.type === "reasoning" && isOurs(item));
}

function isOurs({ encrypted_content }: Reasoning): boolean {
  return encrypted_content?.startsWith(PREFIX) ?? false;
}

/**
 * The provider reads thoughts without our seals; its own thoughts are sealed if the request asks for that.
 */
export function sealThoughts(
  provider: Provider,
  seal: ThoughtSeal,
  include: readonly string[] | null | undefined,
): Provider {
  const isAsked = asksForSeal(include);
  return {
    name: provider.name,
    async *stream(request, call) {
      const asked = openThoughts(request, seal);
      for await (const batch of provider.stream(asked, call)) {
        yield isAsked ? batch.map((event) => sealEvent(event, seal)) : batch;
      }
    },
  };
}

function openThoughts(request: ModelRequest, seal: ThoughtSeal): ModelRequest {
  const items = request.items.map((item) => (item.type === "reasoning" ? seal.open(item) : item));
  return { ...request, items };
}

function sealEvent(event: ModelEvent, seal: ThoughtSeal): ModelEvent {
  if (event.type !== "item_end" || event.item.type !== "reasoning") return event;
  return { ...event, item: seal.seal(event.item) };
}
