/**
 * Wraps a provider that knows only functions: what goes in and comes out are the kinds' own items.
 */

import { makeId } from "../../base/ids.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { ItemEnd, ItemStart, ModelEvent } from "../../protocol/model-events.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import type { Provider } from "../../providers/provider.ts";
import { idPrefixOf } from "../fold/emitted-item.ts";
import type { Offer } from "../kinds/tool-kind.ts";
import type { Bridge } from "./bridge.ts";
import { createCitations } from "./citations.ts";
import { createFieldReader, type FieldReader } from "./field-reader.ts";

/** `callsLeft` returns how many calls the server may still make for the run. */
export function bridgeProvider(
  provider: Provider,
  bridge: Bridge,
  callsLeft: () => number,
): Provider {
  return {
    name: provider.name,
    async *stream(request, call) {
      const left = callsLeft();
      const calls = new BridgedCalls(bridge, left);
      const citations = createCitations(request.items);
      const tool_choice = bridge.toolChoice(request.tool_choice);
      const tools = request.tools.length > 0 ? bridge.toolsFor(request.items, tool_choice) : [];
      const offered = { tools, tool_choice };
      const bridged = {
        ...request,
        ...(left > 0 ? offered : withoutServerCalls(offered, bridge)),
        items: bridge.toHistory(request.items),
        // The provider's own count of known items refers to other items.
        previous: undefined,
      };
      for await (const batch of provider.stream(bridged, call)) {
        const events = batch.flatMap((event) => calls.read(event));
        yield citations ? events.flatMap((event) => citations.read(event)) : events;
      }
    },
  };
}

interface BridgedCall {
  readonly offer: Offer;
  readonly id: string;
  readonly reader: FieldReader | undefined;
}

/** The open calls of one answer. */
class BridgedCalls {
  readonly #bridge: Bridge;
  readonly #open = new Map<number, BridgedCall>();
  /** Calls beyond the limit. */
  readonly #ignored = new Set<number>();
  #left: number;

  constructor(bridge: Bridge, left: number) {
    this.#bridge = bridge;
    this.#left = left;
  }

  read(event: ModelEvent): ModelEvent[] {
    if (event.type === "item_start") return this.#start(event);
    if ("index" in event && this.#ignored.has(event.index)) return [];
    if (event.type !== "arguments_delta" && event.type !== "item_end") return [event];
    const call = this.#open.get(event.index);
    if (!call) return [event];
    if (event.type === "item_end") return this.#end(event, call);
    const { shows } = call.offer;
    if (shows === "all") return [event];
    const delta = call.reader?.read(event.delta) ?? "";
    return delta === "" ? [] : [{ ...event, delta }];
  }

  #start(event: ItemStart): ModelEvent[] {
    const { item } = event;
    const offer = item.type === "function_call" && this.#bridge.offerNamed(item.name);
    if (!offer) return [event];
    if (offer.run && this.#left-- <= 0) {
      this.#ignored.add(event.index);
      return [];
    }
    const begun = { ...(item as FunctionCall), arguments: "" };
    const { type } = offer.toItem(begun, "");
    const id = makeId(idPrefixOf(type));
    const { shows } = offer;
    const reader = typeof shows === "object" ? createFieldReader(shows.field) : undefined;
    this.#open.set(event.index, { offer, id, reader });
    if (offer.late) return [];
    return [{ ...event, item: offer.toItem(begun, id), own: offer.run !== undefined }];
  }

  #end(event: ItemEnd, { offer, id }: BridgedCall): ModelEvent[] {
    this.#open.delete(event.index);
    const item = offer.toItem(event.item as FunctionCall, id);
    const end: ItemEnd = offer.run ? { ...event, item, pending: id } : { ...event, item };
    return [...this.#toLate(event.index, offer, item), end];
  }

  #toLate(index: number, { late, run }: Offer, item: Item): ModelEvent[] {
    if (!late) return [];
    const told = late.tells?.(item) ?? [];
    return [
      { type: "item_start", index, item: late.begins(item), own: run !== undefined },
      ...told.map((event): ModelEvent => {
        return { type: "opaque", event: { ...event, output_index: index } };
      }),
    ];
  }
}

/**
 * `max_tool_calls`: calls of the server beyond the limit are ignored. They are not made, not shown, and their tools
 * are not offered any more. Calls that the client makes do not count.
 */
interface Offered {
  readonly tools: readonly Tool[];
  readonly tool_choice: ToolChoice;
}

/** The rest of an offer after the server's last call. Both contain functions. */
function withoutServerCalls({ tools, tool_choice }: Offered, bridge: Bridge): Offered {
  const isOurs = (name: string): boolean => bridge.offerNamed(name)?.run !== undefined;
  const rest = tools.filter((tool) => tool.type !== "function" || !isOurs(tool.name));
  const isOpen = rest.length > 0 && !namesIn(tool_choice).some(isOurs);
  return { tools: rest, tool_choice: isOpen ? tool_choice : "auto" };
}

function namesIn(choice: ToolChoice): string[] {
  if (typeof choice === "string") return [];
  const entries = choice.type === "allowed_tools" ? choice.tools : [choice];
  return entries.flatMap((entry) =>
    "name" in entry && typeof entry.name === "string" ? [entry.name] : [],
  );
}
