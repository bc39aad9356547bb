/** Questions about all runs, asked of the tables `run_facts`, `spans`, `usage` and `questions`. */

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
  WindowQuery,
} from "../run-index.ts";
import { rootOf } from "../run-notes.ts";
import { toColumn } from "../text-column.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteValue } from "./sqlite-driver.ts";

export function createSqliteIndex(db: SqliteDatabase): RunIndex {
  return {
    async listRuns(query) {
      const { sql, values } = toListSql(query);
      return db.all(sql, ...values).map(toRunRow);
    },
    async getRow(id) {
      const row = db.get(`select ${ROW} from run_facts f where run_id = ?`, toColumn(id));
      return row && toRunRow(row);
    },
    async listTree(id) {
      const sql = `select ${ROW} from run_facts f where ${BELOW} order by run_id`;
      return db.all(sql, ...below(id)).map(toRunRow);
    },
    async listSpans(id) {
      const sql = `select s.*, u.input_tokens, u.cached_tokens, u.output_tokens, u.usd
        from spans s left join usage u on u.run_id = s.run_id and u.seq = s.seq
        where ${toBelow("s.run_id")} order by s.run_id, s.seq`;
      return db.all(sql, ...below(id)).map(toSpanRow);
    },
    async countTree(id) {
      const sql = `select count(*) as runs, total(turns) as turns, total(calls) as calls,
          total(status = 'ended') as ended, total(turn_seq) as open, max(ended_at_ms) as at
        from run_facts where ${BELOW}`;
      return Object.values(db.get(sql, ...below(id)) ?? {}).join(" ");
    },
    async sumUsage(query) {
      const { sql, values } = toUsageSql(query);
      return db.all(sql, ...values).map(toUsageSum);
    },
    async sumTools(query) {
      return db.all(TOOLS, ...toWindow(query)).map(toToolSum);
    },
    async listFailedCalls(query) {
      const { sql, values } = toFailedSql(query);
      return db.all(sql, ...values).map(toFailedCall);
    },
    async readNews(tenant) {
      const { sql, values } = toNewsSql(tenant);
      const row = db.get(sql, ...values) ?? {};
      return { version: Object.values(row).join(" "), waiting: Number(row["waiting"]) };
    },
    async listQuestions(query) {
      const { sql, values } = toQuestionSql(query);
      return db.all(sql, ...values).map(toQuestionRow);
    },
    async getQuestion(runId, question) {
      const sql = "select * from questions where run_id = ? and question = ?";
      const row = db.get(sql, toColumn(runId), toColumn(question));
      return row && toQuestionRow(row);
    },
  };
}

const ROW = `f.*, (select count(*) from questions q where q.root_id = f.root_id
    and q.closed_at_ms is null and (f.parent_id is null or q.run_id = f.run_id)) as waiting`;

/**
 * A run and all below it: the ids of those begin with its id and a slash, and `0` follows the slash. One range of the
 * primary key, so that no table needs an index by root, which every stored response would have to write.
 */
function toBelow(column: string, id = "?1", below = "?2", end = "?3"): string {
  return `${column} >= ${id} and ${column} < ${end} and (${column} = ${id} or ${column} >= ${below})`;
}

const BELOW = toBelow("run_id");

function below(id: string): SqliteValue[] {
  return [toColumn(id), toColumn(`${id}/`), toColumn(`${id}0`)];
}

interface Sql {
  readonly sql: string;
  readonly values: readonly SqliteValue[];
}

/** A term for each filter that is set. */
function toListSql(query: RunListQuery): Sql {
  const terms: string[] = [];
  const values: SqliteValue[] = [];
  const add = (term: string, ...given: SqliteValue[]): void => {
    terms.push(term);
    values.push(...given);
  };
  const { parent, status, before, search, from_ms, to_ms } = query;
  if (parent === undefined) terms.push("parent_id is null");
  else add("parent_id = ?", toColumn(parent));
  // Spelled out, so that the partial index of running ones fits.
  if (status !== undefined) terms.push(`status = '${status === "ended" ? "ended" : "running"}'`);
  for (const [column, value] of Object.entries(toColumns(query))) {
    if (value !== undefined) add(`${column} = ?`, toColumn(value));
  }
  if (query.agent !== undefined) {
    add("(label = ? or agent = ?)", toColumn(query.agent), toColumn(query.agent));
  }
  if (query.waiting) terms.push(WAITING);
  if (from_ms !== undefined) add("created_at_ms >= ?", from_ms);
  if (to_ms !== undefined) add("created_at_ms < ?", to_ms);
  for (const word of toSearchWords(search))
    add("instr(lower(title || ' ' || run_id), ?) > 0", word);
  if (before) add("(created_at_ms, run_id) < (?, ?)", before.created_at_ms, toColumn(before.id));
  const order = "order by created_at_ms desc, run_id desc limit ?";
  const sql = `select ${ROW} from run_facts f where ${terms.join(" and ")} ${order}`;
  return { sql, values: [...values, query.limit] };
}

const WAITING = `exists (select 1 from questions w where w.root_id = f.root_id
  and w.closed_at_ms is null and (f.parent_id is null or w.run_id = f.run_id))`;

function toColumns(query: RunListQuery): Readonly<Record<string, string | undefined>> {
  const { tenant, ending, model, key_id, session, folder, name } = query;
  return { session, key_id, folder, model, tenant, ending, name };
}

function toUsageSql(query: UsageQuery): Sql {
  const column = USAGE_COLUMNS[query.by];
  const { daily, roots, tenant, from_day, to_day, limit } = query;
  const day = daily ? "day" : "null";
  const values: SqliteValue[] = [];
  let from = "usage";
  let where = BELOW;
  if (query.below !== undefined) values.push(...below(query.below));
  else if (roots) {
    // `cross join`: the roots first, each with its range of the table.
    from = "json_each(?1) r cross join usage";
    where = toBelow("run_id", "r.value", "r.value || '/'", "r.value || '0'");
    values.push(JSON.stringify(roots.map(toColumn)));
  } else {
    where = "day >= ?1 and day <= ?2";
    values.push(from_day, to_day);
  }
  if (tenant !== undefined) {
    values.push(toColumn(tenant));
    where += ` and tenant = ?${values.length}`;
  }
  const sql = `select ${day} as day, ${column} as key, count(*) as calls,
      sum(input_tokens) as input_tokens, sum(cached_tokens) as cached_tokens,
      sum(output_tokens) as output_tokens, sum(reasoning_tokens) as reasoning_tokens,
      total(usd) as known_usd, sum(usd is null) as unpriced_calls, sum(ms) as ms
    from ${from} where ${where} group by 1, 2
    order by 1, known_usd desc, input_tokens + output_tokens desc, 2 limit ?${values.length + 1}`;
  return { sql, values: [...values, limit] };
}

const TOOLS = `select s.name as tool, count(*) as calls, sum(s.status = 'failed') as failed,
    sum(s.status = 'denied') as denied, sum(coalesce(s.ended_at_ms - s.started_at_ms, 0)) as ms,
    max(coalesce(s.ended_at_ms - s.started_at_ms, 0)) as max_ms, max(s.started_at_ms) as last_at_ms
  from spans s join run_facts f on f.run_id = s.run_id
  where s.kind = 'call' and s.day >= ?1 and s.day <= ?2 and (?3 is null or f.tenant = ?3)
  group by s.name order by calls desc, s.name`;

/**
 * The newest run, how far the trees of those are that run now, and open questions. Each from an index of its own, which is
 * why a tenant is asked about with another text than everybody.
 */
function toNewsSql(tenant: string | undefined): Sql {
  const own = tenant === undefined ? "" : "and tenant = ?1";
  // With a plus the index of running ones is taken, which are few, and not that of all runs of the tenant.
  const running = tenant === undefined ? "" : "and +f.tenant = ?1";
  const sql = `select
    (select max(created_at_ms) from run_facts where parent_id is null ${own}) as newest,
    (select count(*) || ' ' || total(b.turns) || ' ' || total(b.calls) from run_facts f
      join run_facts b on ${toBelow("b.run_id", "f.run_id", "f.run_id || '/'", "f.run_id || '0'")}
      where f.parent_id is null and f.status = 'running' ${running}) as running,
    (select max(at_ms) from questions where closed_at_ms is null ${own}) as asked,
    (select count(*) from questions where closed_at_ms is null ${own}) as waiting`;
  return { sql, values: tenant === undefined ? [] : [toColumn(tenant)] };
}

function toFailedSql(query: FailedCallQuery): Sql {
  const { tenant, status, tool, before, limit } = query;
  const terms = ["s.kind = 'call'", "s.day >= ?", "s.day <= ?"];
  const values: SqliteValue[] = [query.from_day, query.to_day];
  const add = (term: string, ...given: SqliteValue[]): void => {
    terms.push(term);
    values.push(...given);
  };
  terms.push(status === undefined ? "s.status in ('failed', 'denied')" : `s.status = '${status}'`);
  if (tenant !== undefined) add("f.tenant = ?", toColumn(tenant));
  if (tool !== undefined) add("s.name = ?", toColumn(tool));
  if (before) {
    const place = [before.at_ms, toColumn(before.run_id), before.seq];
    add("(s.started_at_ms, s.run_id, s.seq) < (?, ?, ?)", ...place);
  }
  const sql = `select s.*, f.title, f.label from spans s join run_facts f on f.run_id = s.run_id
    where ${terms.join(" and ")}
    order by s.started_at_ms desc, s.run_id desc, s.seq desc limit ?`;
  return { sql, values: [...values, limit] };
}

function toWindow({ from_day, to_day, tenant }: WindowQuery): SqliteValue[] {
  return [from_day, to_day, tenant === undefined ? null : toColumn(tenant)];
}

function toQuestionSql({ tenant, run, after, limit }: QuestionQuery): Sql {
  const terms = ["closed_at_ms is null"];
  const values: SqliteValue[] = [];
  if (tenant !== undefined) {
    terms.push("tenant = ?");
    values.push(toColumn(tenant));
  }
  if (run !== undefined) {
    terms.push("root_id = ? and (run_id = ? or (run_id >= ? and run_id < ?))");
    values.push(toColumn(rootOf(run)), ...below(run));
  }
  if (after) {
    terms.push("(at_ms, run_id) > (?, ?)");
    values.push(after.at_ms, toColumn(after.id));
  }
  const sql = `select * from questions where ${terms.join(" and ")} order by at_ms, run_id limit ?`;
  return { sql, values: [...values, limit] };
}
