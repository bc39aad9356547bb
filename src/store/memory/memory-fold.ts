/**
 * The rows of the index, for a store in memory and for an ended run that is written down with them: the store passes
 * it every run and every batch of events. `memory-index.ts` reads them.
 */

import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { RunFinish } from "../journal.ts";
import type { QuestionRow, RunRow, SpanRow } from "../run-index.ts";
import { type Note, type NotedUsage, rootOf, toNotes, toTaskFacts } from "../run-notes.ts";
import type { Changed, UsageRow } from "./memory-sums.ts";

export interface MemoryRunRow extends Changed<Omit<RunRow, "waiting">> {
  turn_seq: number | null;
}

export interface IndexedRun {
  readonly facts: Omit<RunRow, "waiting">;
  readonly spans: readonly SpanRow[];
  readonly questions: readonly QuestionRow[];
  readonly usage: readonly UsageRow[];
}

export class MemoryFold {
  readonly facts = new Map<string, MemoryRunRow>();
  readonly spans = new Map<string, Changed<SpanRow>[]>();
  readonly questions = new Map<string, Changed<QuestionRow>[]>();
  /** Stays when its run is removed, without text of its model. */
  readonly usage = new Map<string, Changed<UsageRow>[]>();

  add(run: RunRecord): void {
    const { id, parent_id } = run;
    const facts = toTaskFacts(run.input);
    const above = parent_id === null ? undefined : this.facts.get(parent_id);
    // Field by field: a stored response waits for it (`sqlite-ended.ts`), and spreading costs five times as much.
    this.facts.set(id, {
      id,
      root_id: rootOf(id),
      parent_id,
      tenant: run.tenant ?? DEFAULT_TENANT,
      key_id: facts.key_id ?? above?.key_id ?? null,
      name: run.name,
      title: run.title,
      created_at_ms: run.created_at_ms,
      status: "running",
      ending: null,
      ended_at_ms: null,
      message: "",
      model: facts.model,
      label: facts.label,
      agent: facts.agent,
      session: facts.session,
      folder: facts.folder,
      turns: 0,
      calls: 0,
      turn_seq: null,
      turn_at_ms: null,
    });
    this.spans.set(id, []);
    this.questions.set(id, []);
  }

  remove(id: string): void {
    const agent = this.facts.get(id)?.agent ?? null;
    for (const row of this.usage.get(id) ?? []) row.label = agent;
    this.facts.delete(id);
    this.spans.delete(id);
    this.questions.delete(id);
  }

  note(id: string, firstSeq: number, events: readonly RunEvent[]): void {
    const facts = this.facts.get(id);
    if (facts) for (const note of toNotes(firstSeq, events)) this.#apply(facts, note);
  }

  end(id: string, { ending, at_ms }: Pick<RunFinish, "ending" | "at_ms">): void {
    const facts = this.facts.get(id);
    if (!facts) return;
    facts.status = "ended";
    facts.ending = ending;
    facts.ended_at_ms = at_ms;
    facts.turn_seq = null;
    facts.turn_at_ms = null;
    for (const span of this.#openSpans(id)) endSpan(span, "cut", at_ms);
    for (const asked of this.openQuestions(id)) asked.closed_at_ms = at_ms;
  }

  /** All rows of a run, as tables have them. */
  rowsOf(id: string): IndexedRun | undefined {
    const facts = this.facts.get(id);
    if (!facts) return undefined;
    const spans = this.spans.get(id) ?? [];
    const questions = this.questions.get(id) ?? [];
    return { facts, spans, questions, usage: this.usage.get(id) ?? [] };
  }

  #openSpans(id: string): Changed<SpanRow>[] {
    return (this.spans.get(id) ?? []).filter(({ ended_at_ms }) => ended_at_ms === null);
  }

  openQuestions(id: string): Changed<QuestionRow>[] {
    return (this.questions.get(id) ?? []).filter(({ closed_at_ms }) => closed_at_ms === null);
  }

  #apply(facts: MemoryRunRow, note: Note): void {
    const { id } = facts;
    switch (note.note) {
      case "turn":
        this.#closeTurn(facts, "cut", note.at_ms);
        this.#open(id, "turn", note);
        facts.turns = Math.max(facts.turns, note.turn);
        facts.turn_seq = note.seq;
        facts.turn_at_ms = note.at_ms;
        return;
      case "turn_end": {
        const ms = Math.max(0, note.at_ms - (facts.turn_at_ms ?? note.at_ms));
        const seq = facts.turn_seq ?? note.seq;
        const model = note.model ?? facts.model;
        this.#use(facts, note, {
          seq,
          ms,
          model,
          kind: "turn",
          turn: note.turn,
          at_ms: note.at_ms,
        });
        return this.#closeTurn(facts, "ok", note.at_ms);
      }
      case "compaction":
        this.#closeTurn(facts, "cut", note.at_ms);
        this.#open(id, "compaction", note, { status: "ok", ended_at_ms: note.at_ms });
        return this.#use(facts, note, { ...note, ms: 0, model: facts.model, kind: "compaction" });
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
    this.spans.get(run_id)?.push({
      run_id,
      seq,
      kind,
      turn,
      name,
      key,
      under,
      started_at_ms: at_ms,
      ended_at_ms: ended.ended_at_ms,
      status: ended.status,
      decided_by: null,
      input_tokens: null,
      cached_tokens: null,
      output_tokens: null,
      usd: null,
    });
  }

  #closeTurn(facts: MemoryRunRow, status: SpanRow["status"], at_ms: number): void {
    const span = this.#openSpans(facts.id).find(({ seq }) => seq === facts.turn_seq);
    if (span) endSpan(span, status, at_ms);
    facts.turn_seq = null;
    facts.turn_at_ms = null;
  }

  #use(
    facts: MemoryRunRow,
    used: NotedUsage,
    call: Pick<UsageRow, "seq" | "ms" | "model" | "kind" | "turn" | "at_ms">,
  ): void {
    const { id: run_id, label, agent } = facts;
    const own = this.usage.get(run_id) ?? [];
    this.usage.set(run_id, own);
    own.push({
      run_id,
      seq: call.seq,
      root_id: facts.root_id,
      tenant: facts.tenant,
      key_id: facts.key_id,
      model: call.model,
      label: label ?? agent,
      kind: call.kind,
      turn: call.turn,
      day: used.day,
      at_ms: call.at_ms,
      ms: call.ms,
      input_tokens: used.input_tokens,
      cached_tokens: used.cached_tokens,
      output_tokens: used.output_tokens,
      reasoning_tokens: used.reasoning_tokens,
      usd: used.usd,
    });
    const span = this.spans.get(run_id)?.find((one) => one.seq === call.seq);
    if (!span) return;
    span.input_tokens = used.input_tokens;
    span.cached_tokens = used.cached_tokens;
    span.output_tokens = used.output_tokens;
    span.usd = used.usd;
  }

  /** Adds what interrupted calls used. */
  #useRest(facts: MemoryRunRow, note: Extract<Note, { note: "end" }>): void {
    const own = this.usage.get(facts.id) ?? [];
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
    const { seq, at_ms } = note;
    this.#use(facts, rest, { seq, at_ms, ms: 0, model: facts.model, kind: "cut", turn: null });
  }

  #ask({ id: run_id, tenant }: MemoryRunRow, note: Extract<Note, { note: "question" }>): void {
    const { question, at_ms, until_ms, body } = note;
    const asked = { run_id, question, tenant, at_ms, until_ms, body };
    const others = (this.questions.get(run_id) ?? []).filter((one) => one.question !== question);
    const row = { ...asked, closed_at_ms: null, verdict: null, reason: null };
    this.questions.set(run_id, [...others, row]);
  }

  #decide(id: string, note: Extract<Note, { note: "decision" }>): void {
    const span = this.#openCall(id, note);
    if (span) span.decided_by = note.by;
    if (span && note.verdict === "deny") span.status = "denied";
    const asked = this.questions.get(id)?.find(({ question }) => question === note.question);
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

  #resume(facts: MemoryRunRow, at_ms: number): void {
    for (const span of this.#openSpans(facts.id)) {
      if (span.kind === "call") facts.calls--;
      if (span.kind !== "child") Object.assign(span, { status: "cut", ended_at_ms: at_ms });
    }
    for (const asked of this.openQuestions(facts.id)) asked.closed_at_ms = at_ms;
    Object.assign(facts, { turn_seq: null, turn_at_ms: null });
  }
}

function endSpan(span: Changed<SpanRow>, status: SpanRow["status"], at_ms: number): void {
  span.status = status;
  span.ended_at_ms = at_ms;
}
