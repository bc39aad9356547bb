/**
 * The runs of a team's agents that one run has started: they work in the background, and their events are copied to
 * the log of the run that started them.
 *
 * Copying continues at the number in their logs where it stopped, so that nothing is copied twice or lost over a
 * restart. Their events may come at any time, so they are written outside of the run's steps.
 */

import { toResolvers } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ChildReport, ChildWish } from "../../delegation/child.ts";
import type { DelegationNode } from "../../delegation/node.ts";
import type { Spawning } from "../../delegation/run-child.ts";
import { adoptChild, type OrderedChild, orderChild } from "../../delegation/spawn.ts";
import type { Engine, RunContext } from "../../engine/engine.ts";
import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";
import { toToldAgain } from "./child-events.ts";

interface CrewParts {
  readonly context: RunContext;
  readonly engine: Pick<Engine, "follow">;
  readonly node: DelegationNode;
}

export interface Member {
  readonly name: string;
  /** The id of its run. */
  readonly id: string;
  /** How it ended, once all of its events are copied. Rejects when this run is over. */
  readonly report: Promise<ChildReport>;
  /** Ends it and the runs below it. */
  stop(): void;
}

interface StartedAgent {
  readonly name: string;
  /** The agent's place below this run. */
  readonly key: string;
  /** The call that started it. */
  readonly callKey: string;
}

/** An agent that was started before this process took the run over. */
interface KnownAgent extends StartedAgent {
  readonly task: Parameters<typeof adoptChild>[1]["task"];
  readonly timeoutMs: number;
  readonly requested: JsonObject;
  /** The last number of its log that was copied. */
  readonly told: number;
}

export interface Crew {
  /** Resolves when the agent is written down. Rejects if it is refused: depth, budget. */
  start(agent: StartedAgent, wish: ChildWish): Promise<Member>;
  adopt(agent: KnownAgent): Member;
  /** Copies the remaining events of an agent that has ended. */
  tell(name: string, runId: string, after: number): Promise<void>;
  /** Writes to the run's log outside of any call. */
  emit(events: readonly RunEvent[]): Promise<number>;
}

export function createCrew({ context, engine, node }: CrewParts): Crew {
  const toSpawning = ({ key, callKey }: StartedAgent, signal: AbortSignal): Spawning => ({
    // Working agents may wait for a message of this one.
    callKey,
    key,
    signal,
    executor: "in_process",
    isUrgent: true,
  });

  async function tell(name: string, runId: string, after: number): Promise<void> {
    for await (const batch of engine.follow(runId, after)) {
      const events = batch.flatMap((logged: LoggedEvent) => toToldAgain(logged, name));
      if (events.length > 0) await context.tell(events);
    }
  }

  function run(agent: StartedAgent, child: OrderedChild, begun: Begun): Member {
    const { name, key } = agent;
    const started = new Promise<void>((resolve, reject) => {
      child.run(resolve).then(begun.ended, (thrown: unknown) => {
        reject(thrown);
        begun.failed(thrown);
      });
    });
    const id = `${context.id}/${key}`;
    // A start that fails is reported by `begun.failed` to the code that waits for the start and for the report.
    started.then(begun.started, () => {});
    const told = started.then(() => tell(name, id, begun.told));
    const report = Promise.all([begun.report, told]).then(([ended]) => ended);
    // If it could not be started, its report is not read.
    report.catch(() => {});
    return { name, id, report, stop: begun.stop };
  }

  return {
    async start(agent, wish) {
      const begun = createBegun(-1);
      const child = await orderChild(node, wish, toSpawning(agent, begun.signal));
      const member = run(agent, child, begun);
      await begun.isStarted;
      return member;
    },
    adopt(agent) {
      const begun = createBegun(agent.told);
      const { key, task, timeoutMs, requested } = agent;
      const past = { key, task, timeoutMs, requested };
      const child = adoptChild(node, past, toSpawning(agent, begun.signal));
      return run(agent, child, begun);
    },
    tell,
    emit: (events) => context.tell(events),
  };
}

/** A started agent: the promises of its beginning and its end. */
interface Begun {
  readonly told: number;
  readonly signal: AbortSignal;
  readonly isStarted: Promise<void>;
  readonly report: Promise<ChildReport>;
  started(): void;
  ended(report: ChildReport): void;
  failed(thrown: unknown): void;
  stop(): void;
}

function createBegun(told: number): Begun {
  const stopping = new AbortController();
  const start = toResolvers<void>();
  const end = toResolvers<ChildReport>();
  return {
    told,
    signal: stopping.signal,
    isStarted: start.promise,
    report: end.promise,
    started: () => start.resolve(),
    ended: (report) => end.resolve(report),
    failed(thrown) {
      start.reject(thrown);
      end.reject(thrown);
    },
    stop: () => stopping.abort(new Failure("cancelled", "The agent was interrupted.")),
  };
}
