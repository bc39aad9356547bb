/** Queries over all runs of a store in memory. */

import { toSearchWords } from "../index-rows.ts";
import type {
  FailedCall,
  FailedCallQuery,
  QuestionRow,
  RunIndex,
  RunListQuery,
  RunNews,
  RunRow,
  SpanRow,
  ToolSum,
  UsageQuery,
  UsageSum,
  WindowQuery,
} from "../run-index.ts";
import { toDay } from "../run-notes.ts";
import { MemoryFold, type MemoryRunRow } from "./memory-fold.ts";
import {
  addCall,
  addTo,
  type Changed,
  compareSums,
  isLater,
  NOTHING,
  toFailedCall,
  USAGE_KEY_OF,
  type UsageRow,
} from "./memory-sums.ts";

export class MemoryIndex extends MemoryFold implements RunIndex {
  async listRuns(query: RunListQuery): Promise<RunRow[]> {
    const fits = toFilter(query);
    return [...this.facts.values()]
      .map((facts) => this.#toRow(facts))
      .filter(fits)
      .sort((a, b) => (isBefore(a, b) ? 1 : -1))
      .slice(0, query.limit);
  }

  async getRow(id: string): Promise<RunRow | undefined> {
    const facts = this.facts.get(id);
    return facts && this.#toRow(facts);
  }

  async listTree(id: string): Promise<RunRow[]> {
    const runs = [...this.facts.values()].filter((facts) => isBelow(facts.id, id));
    return runs.map((facts) => this.#toRow(facts)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async listSpans(id: string): Promise<SpanRow[]> {
    const runs = [...this.spans.keys()].filter((run) => isBelow(run, id)).sort();
    return runs.flatMap((run) => (this.spans.get(run) ?? []).map((span) => ({ ...span })));
  }

  async countTree(id: string): Promise<string> {
    const runs = [...this.facts.values()].filter((facts) => isBelow(facts.id, id));
    return runs
      .map(({ turns, calls, status, turn_seq }) => [turns, calls, status, turn_seq])
      .join();
  }

  async sumUsage(query: UsageQuery): Promise<UsageSum[]> {
    const { tenant, daily, by, limit } = query;
    const isAsked = toUsageFilter(query);
    const sums = new Map<string, Changed<UsageSum>>();
    for (const row of [...this.usage.values()].flat()) {
      if (tenant !== undefined && row.tenant !== tenant) continue;
      if (!isAsked(row)) continue;
      const day = daily ? row.day : null;
      const key = USAGE_KEY_OF[by](row);
      const name = JSON.stringify([day, key]);
      const sum = sums.get(name) ?? { day, key, ...NOTHING };
      sums.set(name, sum);
      addTo(sum, row);
    }
    return [...sums.values()].sort(compareSums).slice(0, limit);
  }

  async sumTools({ from_day, to_day, tenant }: WindowQuery): Promise<ToolSum[]> {
    const sums = new Map<string, Changed<ToolSum>>();
    for (const [id, spans] of this.spans) {
      if (tenant !== undefined && this.facts.get(id)?.tenant !== tenant) continue;
      for (const span of spans) {
        const day = toDay(span.started_at_ms);
        if (span.kind === "call" && day >= from_day && day <= to_day) addCall(sums, span);
      }
    }
    return [...sums.values()].sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
  }

  async listFailedCalls(query: FailedCallQuery): Promise<FailedCall[]> {
    const calls = [...this.spans.values()].flat().flatMap((span) => {
      const facts = this.facts.get(span.run_id);
      const isAsked = query.tenant === undefined || facts?.tenant === query.tenant;
      return facts && isAsked ? (toFailedCall(span, facts, query) ?? []) : [];
    });
    return calls.sort((a, b) => (isLater(a, b) ? -1 : 1)).slice(0, query.limit);
  }

  async readNews(tenant: string | undefined): Promise<RunNews> {
    const isTheirs = (one: { readonly tenant: string }): boolean =>
      tenant === undefined || one.tenant === tenant;
    const roots = [...this.facts.values()].filter((one) => one.parent_id === null && isTheirs(one));
    const open = [...this.questions.keys()].flatMap((id) => this.openQuestions(id));
    const waiting = open.filter(isTheirs).length;
    const states = [...this.facts.values()].filter(isTheirs).map(({ turns, calls, status }) => {
      return [turns, calls, status].join(":");
    });
    const version = [roots.length, ...states, waiting].join(" ");
    return { version, waiting };
  }

  async listQuestions(query: Parameters<RunIndex["listQuestions"]>[0]): Promise<QuestionRow[]> {
    const { tenant, run, after, limit } = query;
    const open = [...this.questions.keys()].flatMap((id) => this.openQuestions(id));
    return open
      .filter((one) => tenant === undefined || one.tenant === tenant)
      .filter((one) => run === undefined || isBelow(one.run_id, run))
      .sort((a, b) => a.at_ms - b.at_ms || (a.run_id < b.run_id ? -1 : 1))
      .filter(
        (one) =>
          !after || one.at_ms > after.at_ms || (one.at_ms === after.at_ms && one.run_id > after.id),
      )
      .slice(0, limit)
      .map((one) => ({ ...one }));
  }

  async getQuestion(runId: string, question: string): Promise<QuestionRow | undefined> {
    const found = this.questions.get(runId)?.find((one) => one.question === question);
    return found && { ...found };
  }

  #toRow({ turn_seq: _, ...facts }: MemoryRunRow): RunRow {
    const runs = facts.parent_id === null ? [...this.questions.keys()] : [facts.id];
    const own = runs.filter((id) => isBelow(id, facts.id));
    return { ...facts, waiting: own.flatMap((id) => this.openQuestions(id)).length };
  }
}

function toUsageFilter({
  roots,
  below,
  from_day,
  to_day,
}: UsageQuery): (row: Changed<UsageRow>) => boolean {
  if (roots) return (row) => roots.includes(row.root_id);
  if (below !== undefined) return (row) => isBelow(row.run_id, below);
  return (row) => row.day >= from_day && row.day <= to_day;
}

function isBelow(id: string, root: string): boolean {
  return id === root || id.startsWith(`${root}/`);
}

function isBefore(
  a: Pick<RunRow, "created_at_ms" | "id">,
  b: Pick<RunRow, "created_at_ms" | "id">,
): boolean {
  return a.created_at_ms < b.created_at_ms || (a.created_at_ms === b.created_at_ms && a.id < b.id);
}

function toFilter(query: RunListQuery): (row: RunRow) => boolean {
  const { parent, agent, waiting, from_ms, to_ms, before, search } = query;
  const { tenant, status, ending, model, key_id, session, folder, name } = query;
  const same = Object.entries({ tenant, status, ending, model, key_id, session, folder, name });
  const set = same.filter(([, value]) => value !== undefined);
  const words = toSearchWords(search);
  return (row) =>
    row.parent_id === (parent ?? null) &&
    set.every(([field, value]) => row[field as keyof RunRow] === value) &&
    (agent === undefined || row.label === agent || row.agent === agent) &&
    (!waiting || row.waiting > 0) &&
    (from_ms === undefined || row.created_at_ms >= from_ms) &&
    (to_ms === undefined || row.created_at_ms < to_ms) &&
    words.every((word) => `${row.title} ${row.id}`.toLowerCase().includes(word)) &&
    (!before || isBefore(row, before));
}
