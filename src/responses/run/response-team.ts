/** Connects the team of a response with the code that runs it. */

import type { Account } from "../../agent/account.ts";
import type { LoopParts } from "../../agent/loop-parts.ts";
import type { AgentTask } from "../../agent/task.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import { ROOT } from "../fold/agent-name.ts";
import { nameOf } from "../multi-agent/agent-wish.ts";
import { withPhases } from "../multi-agent/phase-provider.ts";
import { createTeam, type Team } from "../multi-agent/team.ts";
import { isStoppedWait, toOwnItems } from "../multi-agent/team-history.ts";
import { TEAM_TOOL } from "../multi-agent/team-kind.ts";
import type { TeamSlots } from "../multi-agent/team-slots.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import type { ResponsesParts } from "./responses-parts.ts";

export interface TeamSurroundings extends Pick<ResponsesParts, "clock" | "engine" | "openNode"> {
  readonly slots: TeamSlots;
}

interface Asked {
  readonly context: RunContext;
  readonly task: AgentTask;
  readonly wish: ResponseWish;
}

interface Begun {
  readonly account: Account;
  /** The conversation that the request continues. */
  readonly before: readonly Item[];
}

/** Undefined for a request without a team. */
export function openTeam(
  parts: TeamSurroundings,
  { context, task, wish }: Asked,
  { account, before }: Begun,
): Team | undefined {
  if (!wish.multi_agent || wish.is_compaction) return undefined;
  const { engine, slots, clock } = parts;
  const node = parts.openNode({ context, task, account, tools: [], children: "responses" });
  return createTeam({ context, engine, node, clock, before, task, wish, slots });
}

export interface TeamJoining {
  readonly team: Team | undefined;
  readonly wish: ResponseWish;
  /** Makes the calls that the client has approved, before another turn. */
  readonly callApproved: (items: readonly Item[], turn: number) => Promise<readonly Item[]>;
}

/**
 * A response with its team. One without a team has read what other agents of an earlier answer said.
 */
export function joinTeam<Parts extends LoopParts>(
  parts: Parts,
  { team, wish, callApproved }: TeamJoining,
): Parts & { readonly team: Team | undefined } {
  const { wishes, calls, provider } = parts;
  if (!wishes) return { team, ...parts };
  const begin = async (items: readonly Item[]): ReturnType<Team["begin"]> => {
    const begun = (await wishes.begin?.(items)) ?? { items };
    if (begun.done) return begun;
    return team ? await team.begin(begun.items) : { items: toOwnItems(begun.items, ROOT) };
  };
  if (!team) return { ...parts, team, wishes: { ...wishes, begin } };
  return {
    ...parts,
    team,
    provider: withPhases(provider),
    calls: {
      ...calls,
      stops: (made) => made.some(({ shown }) => shown?.some((item) => isStoppedWait(item))),
      async answered(items, turn) {
        const came = await team.answered(turn);
        return came && (await callApproved([...items, ...came], turn));
      },
    },
    wishes: {
      ...wishes,
      begin,
      tools: [...(wishes.tools ?? []), TEAM_TOOL],
      response: { ...wishes.response, agent: nameOf(wish) },
    },
  };
}
