/** A worker's side of the line to the process that started it. */

import cluster from "node:cluster";
import type { Socket } from "node:net";
import type { PlaceCount } from "../../store/places.ts";
import type { VendorLimits } from "../../store/vendor-limits.ts";
import type { Metric } from "../watching/metrics.ts";
import type { GivenConnections } from "./listener.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export interface WorkerLink {
  /** From 1. */
  readonly number: number;
  tellReady(url: string): void;
  /** The numbers of all workers. */
  collectMetrics(): Promise<readonly Metric[]>;
  /** Those that the primary accepts. */
  readonly connections: GivenConnections;
  /** Counts for all workers. */
  readonly places: PlaceCount;
  /** Between all workers. */
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
      cluster.worker?.disconnect();
    },
  };
}

/** What carries the number of a question. */
type Answer = Extract<ToWorker, { readonly type: "collected" | "taken" | "exchanged" }>;

interface PrimaryConnections extends GivenConnections {
  /** The primary has said where they come from. */
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
    },
    onListening: (port) => onListening(port),
    accept(socket) {
      // One that is not accepted the primary gives to another worker.
      if (!take) return void socket?.destroy();
      // Before anything of it is read.
      tell({ type: "accepted" });
      // One that was broken on the way is none.
      if (socket) take(socket);
    },
  };
}
