/** A worker's side of the line to the primary, the process that started it. */

import cluster from "node:cluster";
import type { Socket } from "node:net";
import type { PlaceCount } from "../../store/place-count.ts";
import type { VendorLimits } from "../../store/vendor-limits.ts";
import type { Metric } from "../watching/metrics.ts";
import type { GivenConnections } from "./listener.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export interface WorkerLink {
  /** Counted from 1. */
  readonly number: number;
  tellReady(url: string): void;
  /** The metrics of all workers together. */
  collectMetrics(): Promise<readonly Metric[]>;
  /** Connections that the primary accepts. */
  readonly connections: GivenConnections;
  /** Counts places for all workers. */
  readonly places: PlaceCount;
  /** Shares vendors' limits between all workers. */
  readonly limits: VendorLimits;
  close(): void;
}

interface LinkHandlers {
  readonly onDrain: () => void;
  readonly onReload: () => void;
  readonly onDamage: () => void;
  readonly measure: () => readonly Metric[];
}

export function openWorkerLink(handlers: LinkHandlers): WorkerLink {
  const { onDrain, onReload, onDamage, measure } = handlers;
  const asked = new Map<number, (answer: Answer) => void>();
  let questions = 0;
  const tell = (message: FromWorker): void => {
    process.send?.(message);
  };
  const ask = (toQuestion: (id: number) => FromWorker): Promise<Answer> =>
    new Promise((resolve) => {
      const id = questions++;
      asked.set(id, resolve);
      tell(toQuestion(id));
    });
  const connections = createGivenConnections(tell);
  const hear = (message: ToWorker, socket?: Socket): void => {
    switch (message.type) {
      case "listening":
        return connections.onListening(message.port);
      case "connection":
        return connections.accept(socket);
      case "drain":
        return onDrain();
      case "reload":
        return onReload();
      case "damaged":
        return onDamage();
      case "measure":
        return tell({ type: "metrics", id: message.id, metrics: measure() });
      case "collected":
      case "taken":
      case "exchanged":
        asked.get(message.id)?.(message);
        asked.delete(message.id);
    }
  };
  process.on("message", hear);
  return {
    number: cluster.worker?.id ?? 1,
    tellReady: (url) => tell({ type: "ready", url }),
    async collectMetrics() {
      const answer = await ask((id) => ({ type: "collect", id }));
      return answer.type === "collected" ? answer.metrics : [];
    },
    connections,
    places: {
      async take(key, limit) {
        const answer = await ask((id) => ({ type: "take", id, key, limit }));
        if (answer.type !== "taken" || !answer.isTaken) return undefined;
        let isTaken = true;
        return () => {
          if (isTaken) tell({ type: "leave", key });
          isTaken = false;
        };
      },
    },
    limits: {
      async exchange(process, reports) {
        const answer = await ask((id) => ({ type: "exchange", id, process, reports }));
        return answer.type === "exchanged" ? answer.all : [];
      },
    },
    close: () => {
      process.off("message", hear);
      // Not disconnected: Node.js fails if a connection arrives in the same turn. The channel ends with the process.
      process.channel?.unref();
    },
  };
}

/** Answers that carry the number of their question. */
type Answer = Extract<ToWorker, { readonly type: "collected" | "taken" | "exchanged" }>;

interface PrimaryConnections extends GivenConnections {
  /** Called when the primary says which port the connections come from. */
  onListening(port: number): void;
  accept(socket: Socket | undefined): void;
}

function createGivenConnections(tell: (message: FromWorker) => void): PrimaryConnections {
  let take: ((socket: Socket) => void) | undefined;
  let onListening = (_port: number): void => {};
  return {
    open: (onConnection) =>
      new Promise((resolve) => {
        take = onConnection;
        onListening = resolve;
        tell({ type: "listen" });
      }),
    close: () => {
      take = undefined;
      tell({ type: "closed" });
    },
    onListening: (port) => onListening(port),
    accept(socket) {
      // The primary gives a connection that was not accepted to another worker.
      if (!take) return void socket?.destroy();
      // Confirmed before anything of it is read.
      tell({ type: "accepted" });
      // A connection that broke on the way arrives without a socket.
      if (socket) take(socket);
    },
  };
}
