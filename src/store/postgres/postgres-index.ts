/** Queries over all runs, on the tables `run_facts`, `spans`, `usage` and `questions`. */

import {
  toFailedCall,
  toQuestionRow,
  toRunRow,
  toSearchWords,
  toSpanRow,
  toToolSum,
  toUsageSum,
  USAGE_COLUMNS,
} from "../index-rows.ts";
import type {
  FailedCallQuery,
  QuestionQuery,
  RunIndex,
  RunListQuery,
  UsageQuery,
} from "../run-index.ts";
import { rootOf } from "../run-notes.ts";
import { toColumn } from "../text-column.ts";
import type { Reads } from "./postgres-database.ts";
import type { PostgresValue } from "./postgres-driver.ts";

export function createPostgresIndex(db: Reads): RunIndex {
  return {
    async listRuns(query) {
      const { sql, values } = toListSql(query);
      return (await db.all(sql, ...values)).map(toRunRow);
    },
    async getRow(id) {
      const sql = `select ${ROW} from offshoot.run_facts f where run_id = $1`;
      const row = await db.get(sql, toColumn(id));
      return row && toRunRow(row);
    },
    async listTree(id) {
      const sql = `select ${ROW} from offshoot.run_facts f where ${BELOW} order by run_id`;
      return (await db.all(sql, ...below(id))).map(toRunRow);
    },
    async listSpans(id) {
      const sql = `select s.*, u.input_tokens, u.cached_tokens, u.output_tokens, u.usd
        from offshoot.spans s left join offshoot.usage u on u.run_id = s.run_id and u.seq = s.seq
        where s.root_id = $1 and (s.run_id = $2 or (s.run_id >= $3 and s.run_id < $4))
        order by s.run_id, s.seq`;
      return (await db.all(sql, ...below(id))).map(toSpanRow);
    },
    async countTree(id) {
      const sql = `select count(*) as runs, sum(turns) as turns, sum(calls) as calls,
          sum(turn_seq) as open, count(ended_at_ms) as ended, max(ended_at_ms) as at
        from offshoot.run_facts where ${BELOW}`;
      return Object.values((await db.get(sql, ...below(id))) ?? {}).join(" ");
    },
    async sumUsage(query) {
      const { sql, values } = toUsageSql(query);
      return (await db.all(sql, ...values)).map(toUsageSum);
    },
    async sumTools({ from_day, to_day, tenant }) {
      const values = [from_day, to_day, tenant === undefined ? null : toColumn(tenant)];
      return (await db.all(TOOLS, ...values)).map(toToolSum);
    },
    async listFailedCalls(query) {
      const { sql, values } = toFailedSql(query);
      return (await db.all(sql, ...values)).map(toFailedCall);
    },
    async readNews(tenant) {
      const { sql, values } = toNewsSql(tenant);
      const row = (await db.get(sql, ...values)) ?? {};
      return { version: Object.values(row).join(" "), waiting: Number(row["waiting"]) };
    },
    async listQuestions(query) {
      const { sql, values } = toQuestionSql(query);
      return (await db.all(sql, ...values)).map(toQuestionRow);
    },
    async getQuestion(runId, question) {
      const sql = "select * from offshoot.questions where run_id = $1 and question = $2";
      const row = await db.get(sql, toColumn(runId), toColumn(question));
      return row && toQuestionRow(row);
    },
  };
}

const OPEN = `offshoot.questions q where q.root_id = f.root_id and q.closed_at_ms is null
  and (f.parent_id is null or q.run_id = f.run_id)`;
const ROW = `f.*, (select count(*) from ${OPEN}) as waiting`;

/** A run and all below it: their ids begin with its id and a slash, and `0` is the character after the slash. */
const BELOW = "root_id = $1 and (run_id = $2 or (run_id >= $3 and run_id < $4))";

function below(id: string): PostgresValue[] {
  return [toColumn(rootOf(id)), toColumn(id), toColumn(`${id}/`), toColumn(`${id}0`)];
}

interface Sql {
  readonly sql: string;
  readonly values: readonly PostgresValue[];
}

/** A term for each filter that is set. */
function toListSql(query: RunListQuery): Sql {
  const values: PostgresValue[] = [];
  const add = (value: PostgresValue): string => `$${values.push(value)}`;
  const { parent, status, before, search, from_ms, to_ms, agent } = query;
  const { tenant, ending, model, key_id, session, folder, name } = query;
  const terms = [
    parent === undefined ? "parent_id is null" : `parent_id = ${add(toColumn(parent))}`,
  ];
  // Spelled out, so that the partial index of running ones is used.
  if (status !== undefined) terms.push(`status = '${status === "ended" ? "ended" : "running"}'`);
  const same = { session, key_id, folder, model, tenant, ending, name };
  for (const [column, value] of Object.entries(same)) {
    if (value !== undefined) terms.push(`${column} = ${add(toColumn(value))}`);
  }
  if (agent !== undefined) {
    const word = add(toColumn(agent));
    terms.push(`(label = ${word} or agent = ${word})`);
  }
  if (query.waiting) terms.push(`exists (select 1 from ${OPEN})`);
  if (from_ms !== undefined) terms.push(`created_at_ms >= ${add(from_ms)}`);
  if (to_ms !== undefined) terms.push(`created_at_ms < ${add(to_ms)}`);
  for (const word of toSearchWords(search)) {
    terms.push(`strpos(lower(title || ' ' || run_id), ${add(toColumn(word))}) > 0`);
  }
  if (before) {
    const place = [before.created_at_ms, toColumn(before.id)].map(add);
    terms.push(`(created_at_ms, run_id) < (${place.join(", ")})`);
  }
  const order = `order by created_at_ms desc, run_id desc limit ${add(query.limit)}`;
  const sql = `select ${ROW} from offshoot.run_facts f where ${terms.join(" and ")} ${order}`;
  return { sql, values };
}

function toUsageSql(query: UsageQuery): Sql {
  const { by, daily, roots, tenant, from_day, to_day, limit } = query;
  const values: PostgresValue[] = [];
  const add = (value: PostgresValue): string => `$${values.push(value)}`;
  const terms = roots
    ? [`root_id = any(${add(roots.map(toColumn))}::text[])`]
    : query.below !== undefined
      ? [toBelow(query.below, add)]
      : [`day >= ${add(from_day)}`, `day <= ${add(to_day)}`];
  if (tenant !== undefined) terms.push(`tenant = ${add(toColumn(tenant))}`);
  const key = USAGE_COLUMNS[by];
  const sql = `select ${daily ? "day" : "null::text"} as day, ${key} as key, count(*) as calls,
      sum(input_tokens)::bigint as input_tokens, sum(cached_tokens)::bigint as cached_tokens,
      sum(output_tokens)::bigint as output_tokens, sum(reasoning_tokens)::bigint as reasoning_tokens,
      coalesce(sum(usd), 0) as known_usd, count(*) filter (where usd is null) as unpriced_calls,
      sum(ms)::bigint as ms
    from offshoot.usage where ${terms.join(" and ")} group by 1, 2
    order by 1 nulls first, coalesce(sum(usd), 0) desc, sum(input_tokens + output_tokens) desc,
      2 nulls first limit ${add(limit)}`;
  return { sql, values };
}

function toBelow(id: string, add: (value: PostgresValue) => string): string {
  const [root, own, first, end] = below(id).map(add);
  return `root_id = ${root} and (run_id = ${own} or (run_id >= ${first} and run_id < ${end}))`;
}

/** The newest run, the state of the trees that run now, and open questions: each from an index of its own. */
function toNewsSql(tenant: string | undefined): Sql {
  const own = tenant === undefined ? "" : "and tenant = $1";
  const sql = `select
    (select max(created_at_ms) from offshoot.run_facts where parent_id is null ${own}) as newest,
    (select concat_ws(' ', count(*), sum(b.turns), sum(b.calls)) from offshoot.run_facts f
      join offshoot.run_facts b on b.root_id = f.run_id
      where f.parent_id is null and f.status = 'running' ${own.replace("tenant", "f.tenant")}) as running,
    (select max(at_ms) from offshoot.questions where closed_at_ms is null ${own}) as asked,
    (select count(*) from offshoot.questions where closed_at_ms is null ${own}) as waiting`;
  return { sql, values: tenant === undefined ? [] : [toColumn(tenant)] };
}

function toFailedSql(query: FailedCallQuery): Sql {
  const { tenant, status, tool, before, from_day, to_day, limit } = query;
  const values: PostgresValue[] = [];
  const add = (value: PostgresValue): string => `$${values.push(value)}`;
  const terms = ["s.kind = 'call'", `s.day >= ${add(from_day)}`, `s.day <= ${add(to_day)}`];
  terms.push(status === undefined ? "s.status in ('failed', 'denied')" : `s.status = '${status}'`);
  if (tenant !== undefined) terms.push(`f.tenant = ${add(toColumn(tenant))}`);
  if (tool !== undefined) terms.push(`s.name = ${add(toColumn(tool))}`);
  if (before) {
    const place = [before.at_ms, toColumn(before.run_id), before.seq].map(add).join(", ");
    terms.push(`(s.started_at_ms, s.run_id, s.seq) < (${place})`);
  }
  const sql = `select s.*, f.title, f.label
    from offshoot.spans s join offshoot.run_facts f on f.run_id = s.run_id
    where ${terms.join(" and ")}
    order by s.started_at_ms desc, s.run_id desc, s.seq desc limit ${add(limit)}`;
  return { sql, values };
}

const TOOLS = `select s.name as tool, count(*) as calls,
    count(*) filter (where s.status = 'failed') as failed,
    count(*) filter (where s.status = 'denied') as denied,
    sum(coalesce(s.ended_at_ms - s.started_at_ms, 0))::bigint as ms,
    max(coalesce(s.ended_at_ms - s.started_at_ms, 0)) as max_ms, max(s.started_at_ms) as last_at_ms
  from offshoot.spans s join offshoot.run_facts f on f.run_id = s.run_id
  where s.kind = 'call' and s.day >= $1 and s.day <= $2 and ($3::text is null or f.tenant = $3)
  group by s.name order by calls desc, s.name`;

function toQuestionSql({ tenant, run, after, limit }: QuestionQuery): Sql {
  const values: PostgresValue[] = [];
  const add = (value: PostgresValue): string => `$${values.push(value)}`;
  const terms = ["closed_at_ms is null"];
  if (tenant !== undefined) terms.push(`tenant = ${add(toColumn(tenant))}`);
  if (run !== undefined) terms.push(toBelow(run, add));
  if (after)
    terms.push(`(at_ms, run_id) > (${[after.at_ms, toColumn(after.id)].map(add).join(", ")})`);
  const order = `order by at_ms, run_id limit ${add(limit)}`;
  return { sql: `select * from offshoot.questions where ${terms.join(" and ")} ${order}`, values };
}
