/** Questions about all runs of a store in memory. The store tells it of every run and every batch of events. */

import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import { toSearchWords } from "../index-rows.ts";
import type { RunFinish } from "../journal.ts";
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
import { type Note, type NotedUsage, rootOf, toDay, toNotes, toTaskFacts } from "../run-notes.ts";
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

interface Facts extends Changed<Omit<RunRow, "waiting">> {
  turn_seq: number | null;
}

export class MemoryIndex implements RunIndex {
  readonly #facts = new Map<string, Facts>();
  readonly #spans = new Map<string, Changed<SpanRow>[]>();
  readonly #questions = new Map<string, Changed<QuestionRow>[]>();
  /** Stays when its run goes, without the words of its model. */
  readonly #usage = new Map<string, Changed<UsageRow>[]>();

  add(run: RunRecord): void {
    const { id, parent_id, name, title, created_at_ms } = run;
    const facts = toTaskFacts(run.input);
    const above = parent_id === null ? undefined : this.#facts.get(parent_id);
    this.#facts.set(id, {
      ...{ id, parent_id, name, title, created_at_ms, ...facts },
      root_id: rootOf(id),
      key_id: facts.key_id ?? above?.key_id ?? null,
      tenant: run.tenant ?? DEFAULT_TENANT,
      ...{ status: "running", ending: null, ended_at_ms: null, message: "", turns: 0, calls: 0 },
      ...{ turn_seq: null, turn_at_ms: null },
    });
    this.#spans.set(id, []);
    this.#questions.set(id, []);
  }

  remove(id: string): void {
    const agent = this.#facts.get(id)?.agent ?? null;
    for (const row of this.#usage.get(id) ?? []) row.label = agent;
    this.#facts.delete(id);
    this.#spans.delete(id);
    this.#questions.delete(id);
  }

  note(id: string, firstSeq: number, events: readonly RunEvent[]): void {
    const facts = this.#facts.get(id);
    if (facts) for (const note of toNotes(firstSeq, events)) this.#apply(facts, note);
  }

  end(id: string, { ending, at_ms }: Pick<RunFinish, "ending" | "at_ms">): void {
    const facts = this.#facts.get(id);
    if (!facts) return;
    Object.assign(facts, { status: "ended", ending, ended_at_ms: at_ms });
    Object.assign(facts, { turn_seq: null, turn_at_ms: null });
    for (const span of this.#openSpans(id))
      Object.assign(span, { status: "cut", ended_at_ms: at_ms });
    for (const asked of this.#openQuestions(id)) asked.closed_at_ms = at_ms;
  }

  #openSpans(id: string): Changed<SpanRow>[] {
    return (this.#spans.get(id) ?? []).filter(({ ended_at_ms }) => ended_at_ms === null);
  }

  #openQuestions(id: string): Changed<QuestionRow>[] {
    return (this.#questions.get(id) ?? []).filter(({ closed_at_ms }) => closed_at_ms === null);
  }

  #apply(facts: Facts, note: Note): void {
    const { id } = facts;
    switch (note.note) {
      case "turn":
        this.#closeTurn(facts, "cut", note.at_ms);
        this.#open(id, "turn", note);
        facts.turns = Math.max(facts.turns, note.turn);
        Object.assign(facts, { turn_seq: note.seq, turn_at_ms: note.at_ms });
        return;
      case "turn_end": {
        const ms = Math.max(0, note.at_ms - (facts.turn_at_ms ?? note.at_ms));
        const seq = facts.turn_seq ?? note.seq;
        this.#use(facts, note, { seq, ms, model: note.model ?? facts.model });
        return this.#closeTurn(facts, "ok", note.at_ms);
      }
      case "compaction":
        this.#closeTurn(facts, "cut", note.at_ms);
        this.#open(id, "compaction", note, { status: "ok", ended_at_ms: note.at_ms });
        return this.#use(facts, note, { seq: note.seq, ms: 0, model: facts.model });
      case "call":
        this.#open(id, "call", note);
        facts.calls++;
        return;
      case "question":
        return this.#ask(facts, note);
      case "decision":
        return this.#decide(id, note);
      case "call_end":
        return this.#endCall(id, note);
      case "child":
        return this.#open(id, "child", note);
      case "child_end":
        return this.#endChild(id, note);
      case "resume":
        return this.#resume(facts, note.at_ms);
      case "end":
        facts.message = note.message;
        return this.#useRest(facts, note);
    }
  }

  #open(
    run_id: string,
    kind: SpanRow["kind"],
    opened: {
      seq: number;
      at_ms: number;
      turn?: number;
      name?: string;
      key?: string;
      under?: string;
    },
    ended: Pick<SpanRow, "status" | "ended_at_ms"> = { status: "open", ended_at_ms: null },
  ): void {
    const { seq, turn = null, name = null, key = null, under = null, at_ms } = opened;
    this.#spans.get(run_id)?.push({
      ...{ run_id, seq, kind, turn, name, key, under, started_at_ms: at_ms, ...ended },
      decided_by: null,
      ...{ input_tokens: null, cached_tokens: null, output_tokens: null, usd: null },
    });
  }

  #closeTurn(facts: Facts, status: SpanRow["status"], at_ms: number): void {
    const span = this.#openSpans(facts.id).find(({ seq }) => seq === facts.turn_seq);
    if (span) Object.assign(span, { status, ended_at_ms: at_ms });
    Object.assign(facts, { turn_seq: null, turn_at_ms: null });
  }

  #use(
    facts: Facts,
    used: NotedUsage,
    { seq, ms, model }: { seq: number; ms: number; model: string | null },
  ): void {
    const { id: run_id, root_id, tenant, key_id, label, agent } = facts;
    const { day, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usd } = used;
    const tokens = { input_tokens, cached_tokens, output_tokens, usd };
    const row = { run_id, seq, root_id, tenant, key_id, model, label: label ?? agent, ms };
    const own = this.#usage.get(run_id) ?? [];
    this.#usage.set(run_id, own);
    own.push({ ...row, ...tokens, day, reasoning_tokens });
    const span = this.#spans.get(run_id)?.find((one) => one.seq === seq);
    if (span) Object.assign(span, tokens);
  }

  /** What calls that broke off used. */
  #useRest(facts: Facts, note: Extract<Note, { note: "end" }>): void {
    const own = this.#usage.get(facts.id) ?? [];
    const left = (of: (row: NotedUsage) => number): number =>
      Math.max(0, of(note) - own.reduce((sum, row) => sum + of(row), 0));
    if (left((row) => row.input_tokens + row.output_tokens) === 0) return;
    const rest = {
      day: note.day,
      input_tokens: left((row) => row.input_tokens),
      cached_tokens: left((row) => row.cached_tokens),
      output_tokens: left((row) => row.output_tokens),
      reasoning_tokens: left((row) => row.reasoning_tokens),
      usd: note.usd === null ? null : left((row) => row.usd ?? 0),
    };
    this.#use(facts, rest, { seq: note.seq, ms: 0, model: facts.model });
  }

  #ask({ id: run_id, tenant }: Facts, note: Extract<Note, { note: "question" }>): void {
    const { question, at_ms, until_ms, body } = note;
    const asked = { run_id, question, tenant, at_ms, until_ms, body };
    const others = (this.#questions.get(run_id) ?? []).filter((one) => one.question !== question);
    const row = { ...asked, closed_at_ms: null, verdict: null, reason: null };
    this.#questions.set(run_id, [...others, row]);
  }

  #decide(id: string, note: Extract<Note, { note: "decision" }>): void {
    const span = this.#openCall(id, note);
    if (span) span.decided_by = note.by;
    if (span && note.verdict === "deny") span.status = "denied";
    const asked = this.#questions.get(id)?.find(({ question }) => question === note.question);
    const { verdict, reason, at_ms: closed_at_ms } = note;
    if (asked) Object.assign(asked, { verdict, reason, closed_at_ms });
  }

  #endCall(id: string, note: Extract<Note, { note: "call_end" }>): void {
    const span = this.#openCall(id, note);
    if (!span) return;
    span.ended_at_ms = note.at_ms;
    if (span.status !== "denied") span.status = note.failed ? "failed" : "ok";
  }

  #endChild(id: string, { key, failed, at_ms }: Extract<Note, { note: "child_end" }>): void {
    for (const span of this.#openSpans(id)) {
      if (span.kind !== "child" || span.key !== key) continue;
      Object.assign(span, { ended_at_ms: at_ms, status: failed ? "failed" : "ok" });
    }
  }

  #openCall(id: string, { key, name }: { readonly key: string; readonly name: string }) {
    const isIt = (one: SpanRow): boolean =>
      one.kind === "call" && one.key === key && one.name === name;
    return this.#openSpans(id).find(isIt);
  }

  #resume(facts: Facts, at_ms: number): void {
    for (const span of this.#openSpans(facts.id)) {
      if (span.kind === "call") facts.calls--;
      if (span.kind !== "child") Object.assign(span, { status: "cut", ended_at_ms: at_ms });
    }
    for (const asked of this.#openQuestions(facts.id)) asked.closed_at_ms = at_ms;
    Object.assign(facts, { turn_seq: null, turn_at_ms: null });
  }

  async listRuns(query: RunListQuery): Promise<RunRow[]> {
    const fits = toFilter(query);
    return [...this.#facts.values()]
      .map((facts) => this.#toRow(facts))
      .filter(fits)
      .sort((a, b) => (isBefore(a, b) ? 1 : -1))
      .slice(0, query.limit);
  }

  async getRow(id: string): Promise<RunRow | undefined> {
    const facts = this.#facts.get(id);
    return facts && this.#toRow(facts);
  }

  async listTree(id: string): Promise<RunRow[]> {
    const runs = [...this.#facts.values()].filter((facts) => isBelow(facts.id, id));
    return runs.map((facts) => this.#toRow(facts)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async listSpans(id: string): Promise<SpanRow[]> {
    const runs = [...this.#spans.keys()].filter((run) => isBelow(run, id)).sort();
    return runs.flatMap((run) => (this.#spans.get(run) ?? []).map((span) => ({ ...span })));
  }

  async countTree(id: string): Promise<string> {
    const runs = [...this.#facts.values()].filter((facts) => isBelow(facts.id, id));
    return runs
      .map(({ turns, calls, status, turn_seq }) => [turns, calls, status, turn_seq])
      .join();
  }

  async sumUsage(query: UsageQuery): Promise<UsageSum[]> {
    const { tenant, daily, by, limit } = query;
    const isAsked = toUsageFilter(query);
    const sums = new Map<string, Changed<UsageSum>>();
    for (const row of [...this.#usage.values()].flat()) {
      if (tenant !== undefined && row.tenant !== tenant) continue;
      if (!isAsked(row)) continue;
      const [day, key] = [daily ? row.day : null, USAGE_KEY_OF[by](row)];
      const name = JSON.stringify([day, key]);
      const sum = sums.get(name) ?? { day, key, ...NOTHING };
      sums.set(name, sum);
      addTo(sum, row);
    }
    return [...sums.values()].sort(compareSums).slice(0, limit);
  }

  async sumTools({ from_day, to_day, tenant }: WindowQuery): Promise<ToolSum[]> {
    const sums = new Map<string, Changed<ToolSum>>();
    for (const [id, spans] of this.#spans) {
      if (tenant !== undefined && this.#facts.get(id)?.tenant !== tenant) continue;
      for (const span of spans) {
        const day = toDay(span.started_at_ms);
        if (span.kind === "call" && day >= from_day && day <= to_day) addCall(sums, span);
      }
    }
    return [...sums.values()].sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
  }

  async listFailedCalls(query: FailedCallQuery): Promise<FailedCall[]> {
    const calls = [...this.#spans.values()].flat().flatMap((span) => {
      const facts = this.#facts.get(span.run_id);
      const isAsked = query.tenant === undefined || facts?.tenant === query.tenant;
      return facts && isAsked ? (toFailedCall(span, facts, query) ?? []) : [];
    });
    return calls.sort((a, b) => (isLater(a, b) ? -1 : 1)).slice(0, query.limit);
  }

  async readNews(tenant: string | undefined): Promise<RunNews> {
    const isTheirs = (one: { readonly tenant: string }): boolean =>
      tenant === undefined || one.tenant === tenant;
    const roots = [...this.#facts.values()].filter(
      (one) => one.parent_id === null && isTheirs(one),
    );
    const open = [...this.#questions.keys()].flatMap((id) => this.#openQuestions(id));
    const waiting = open.filter(isTheirs).length;
    const states = [...this.#facts.values()].filter(isTheirs).map(({ turns, calls, status }) => {
      return [turns, calls, status].join(":");
    });
    const version = [roots.length, ...states, waiting].join(" ");
    return { version, waiting };
  }

  async listQuestions(query: Parameters<RunIndex["listQuestions"]>[0]): Promise<QuestionRow[]> {
    const { tenant, run, after, limit } = query;
    const open = [...this.#questions.keys()].flatMap((id) => this.#openQuestions(id));
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
    const found = this.#questions.get(runId)?.find((one) => one.question === question);
    return found && { ...found };
  }

  #toRow({ turn_seq: _, ...facts }: Facts): RunRow {
    const runs = facts.parent_id === null ? [...this.#questions.keys()] : [facts.id];
    const own = runs.filter((id) => isBelow(id, facts.id));
    return { ...facts, waiting: own.flatMap((id) => this.#openQuestions(id)).length };
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
