/**
 * The tables of a record as `store copy` moves them: each as it is in Postgres, with the SQL that gives the same rows
 * in SQLite. All numbers are kept: those of runs, things, events, audit entries and chunks, so that a cursor of a list
 * or an event number of a stream stays valid.
 *
 * Tables without a meaning elsewhere are left out: `workers` (no process of this machine runs a copied run; it is
 * taken over like that of any dead process), `probe`, and parts without a reference (`drafts`). `places`,
 * `vendor_limits`, `vendor_demands` and `bookings`, which only Postgres has, describe requests in flight, and there
 * are none.
 *
 * The order is that of the references: a table comes after those that it refers to.
 */

/**
 * `value` and `bytes` may be large: each has a digest of its own within that of its row. In all kinds null is a value,
 * too.
 */
export type ColumnKind = "text" | "integer" | "real" | "boolean" | "value" | "bytes";

export interface CopiedColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** In SQLite. */
  readonly sql: string;
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** Names of columns. In both databases the rows are ordered by them, texts byte by byte. */
  readonly key: readonly string[];
  /** In SQLite: what comes after `from`. */
  readonly from: string;
  /** In SQLite, for an index: a condition that all rows at and after the key `?1`, `?2`… fulfil. */
  readonly near?: string;
  /** In SQLite: about how many bytes a row has. Left out if all rows are short. */
  readonly size?: string;
  /** A value that is in `parts` of SQLite and in its row in Postgres: the column, and where its parts are. */
  readonly parted?: { readonly column: string; readonly sql: string };
  /** The column whose numbers Postgres generates, and the last number that SQLite gave. */
  readonly numbered?: { readonly column: string; readonly last: string };
}

/** A name alone means that the column has the same name in SQLite. */
type Columns = Readonly<Record<string, ColumnKind | readonly [ColumnKind, string]>>;

function define({
  columns,
  ...rest
}: Omit<CopiedTable, "columns"> & { columns: Columns }): CopiedTable {
  const rows = Object.entries(columns).map(([name, column]) => {
    const [kind, sql] = typeof column === "string" ? [column, name] : column;
    return { name, kind, sql };
  });
  return { ...rest, columns: rows };
}

/** A value of a run: in its column, in `blobs`, or in `parts`; in Postgres `blobs` are in the column. */
function pickValue(row: string, blob: string, column: string): Columns {
  return {
    [column]: [
      "value",
      `coalesce(${row}.${column}, case when ${blob}.parts is null then ${blob}.body end)`,
    ],
    [`${column}_parts`]: ["text", `${blob}.parts`],
  };
}

function joinBlob(row: string, blob: string, column: string, run = "run_id"): string {
  return `left join blobs as ${blob}
    on ${blob}.run_id = ${row}.${run} and ${blob}.sha256 = ${row}.${column}_blob`;
}

const sizeOf = (row: string, blob: string, column: string): string =>
  `octet_length(coalesce(${row}.${column}, ${blob}.body, ''))`;

/** References to large values of runs, as `temp.copied_values`: created by `copy-source.ts`. */
export const FIND_VALUES = `create temp table copied_values (
    run_id text not null, id text not null, primary key (run_id, id)) without rowid;
  insert or ignore into copied_values select run_id, parts from blobs where parts is not null;`;

export const COPIED_TABLES: readonly CopiedTable[] = [
  define({
    name: "runs",
    key: ["number"],
    columns: {
      number: ["integer", "r.rowid"],
      id: ["text", "r.id"],
      parent_id: ["text", "r.parent_id"],
      path: ["text", "r.path"],
      name: ["text", "r.name"],
      title: ["text", "r.title"],
      ...pickValue("r", "i", "input"),
      created_at_ms: ["integer", "r.created_at_ms"],
      status: ["text", "r.status"],
      epoch: ["integer", "r.epoch"],
      owner: ["text", "r.owner"],
      ending: ["text", "r.ending"],
      ...pickValue("r", "o", "result"),
      ended_at_ms: ["integer", "r.ended_at_ms"],
      next_seq: ["integer", "r.next_seq"],
      tenant: ["text", "r.tenant"],
      bytes: ["integer", "r.bytes"],
      journal: ["integer", "r.journal"],
    },
    from: `runs as r ${joinBlob("r", "i", "input", "id")} ${joinBlob("r", "o", "result", "id")}`,
    size: `${sizeOf("r", "i", "input")} + ${sizeOf("r", "o", "result")}`,
    numbered: { column: "number", last: "select max(rowid) as last from runs" },
  }),
  define({
    name: "parts",
    key: ["run_id", "id", "part"],
    columns: {
      run_id: ["text", "v.run_id"],
      id: ["text", "v.id"],
      part: ["integer", "p.part"],
      bytes: ["bytes", "p.bytes"],
    },
    // The cross join keeps its order.
    from: "temp.copied_values as v cross join parts as p on p.id = v.id",
    near: "(v.run_id, v.id) >= (?1, ?2)",
    size: "length(p.bytes)",
  }),
  define({
    name: "steps",
    key: ["run_id", "key"],
    columns: {
      run_id: ["text", "s.run_id"],
      key: ["text", "s.key"],
      epoch: ["integer", "s.epoch"],
      ...pickValue("s", "b", "value"),
    },
    from: `steps as s ${joinBlob("s", "b", "value")}`,
    size: sizeOf("s", "b", "value"),
  }),
  define({
    name: "events",
    key: ["run_id", "first_seq"],
    columns: {
      run_id: ["text", "e.run_id"],
      first_seq: ["integer", "e.first_seq"],
      count: ["integer", "e.count"],
      epoch: ["integer", "e.epoch"],
      ...pickValue("e", "b", "body"),
    },
    from: `events as e ${joinBlob("e", "b", "body")}`,
    size: sizeOf("e", "b", "body"),
  }),
  define({
    name: "signals",
    key: ["id"],
    columns: {
      id: "integer",
      run_id: "text",
      topic: "text",
      key: "text",
      body: "value",
      taken: "boolean",
    },
    from: "signals",
    size: "octet_length(body)",
    numbered: { column: "id", last: "select max(id) as last from signals" },
  }),
  define({
    name: "turns",
    key: ["run_id"],
    columns: { run_id: "text", queue: "text", lane: "text", has_turn: "boolean" },
    from: "turns",
  }),
  define({
    name: "lanes",
    key: ["queue", "lane"],
    columns: { queue: "text", lane: "text", last_turn: "integer" },
    from: "lanes",
  }),
  define({
    name: "things",
    key: ["position"],
    columns: {
      position: "integer",
      tenant: "text",
      kind: "text",
      id: "text",
      parent: "text",
      body: ["value", "case when parts is null then body end"],
      created_at_ms: "integer",
      expires_at_ms: "integer",
      content_bytes: "integer",
    },
    from: "things",
    size: "octet_length(body)",
    parted: { column: "body", sql: "parts" },
    // Numbers of removed things are not given out again.
    numbered: {
      column: "position",
      last: "select seq as last from sqlite_sequence where name = 'things'",
    },
  }),
  define({
    name: "contents",
    key: ["position", "part"],
    columns: { position: "integer", part: "integer", bytes: "bytes" },
    from: "contents",
    size: "length(bytes)",
  }),
  define({
    name: "chunks",
    key: ["id"],
    columns: {
      id: "integer",
      tenant: "text",
      store: "text",
      file: "text",
      part: "integer",
      text: "value",
      embedding: "bytes",
      model: "text",
    },
    from: "chunks",
    size: "octet_length(text) + coalesce(length(embedding), 0)",
    numbered: { column: "id", last: "select max(id) as last from chunks" },
  }),
  define({
    name: "spending",
    key: ["key_id", "window"],
    columns: {
      key_id: "text",
      window: ["text", '"window"'],
      requests: "integer",
      tokens: "integer",
      usd: "real",
      unpriced: "integer",
    },
    from: "spending",
  }),
  define({
    name: "holds",
    key: ["id"],
    columns: { id: "text", key_id: "text", tokens: "integer", usd: "real", beat_at_ms: "integer" },
    from: "holds",
  }),
  define({
    name: "audit",
    key: ["id"],
    columns: {
      id: "integer",
      at_ms: "integer",
      tenant: "text",
      key_id: "text",
      action: "text",
      target: "text",
      status: "integer",
      address: "text",
    },
    from: "audit",
    numbered: { column: "id", last: "select max(id) as last from audit" },
  }),
  define({
    name: "storage",
    key: ["tenant", "slot"],
    // Not a plain number: in `order by` that would be a column's position.
    columns: { tenant: "text", slot: ["integer", "0 + 0"], bytes: "integer" },
    from: "storage",
  }),
  define({
    name: "run_facts",
    key: ["run_id"],
    columns: {
      run_id: "text",
      root_id: "text",
      parent_id: "text",
      tenant: "text",
      key_id: "text",
      name: "text",
      title: "text",
      created_at_ms: "integer",
      status: "text",
      ending: "text",
      ended_at_ms: "integer",
      message: "text",
      model: "text",
      label: "text",
      agent: "text",
      session: "text",
      folder: "text",
      turns: "integer",
      calls: "integer",
      turn_seq: "integer",
      turn_at_ms: "integer",
    },
    from: "run_facts",
  }),
  define({
    name: "spans",
    key: ["run_id", "seq"],
    columns: {
      run_id: "text",
      seq: "integer",
      root_id: "text",
      kind: "text",
      turn: "integer",
      name: "text",
      key: "text",
      under: "text",
      day: "text",
      started_at_ms: "integer",
      ended_at_ms: "integer",
      status: "text",
      decided_by: "text",
    },
    from: "spans",
  }),
  define({
    name: "usage",
    key: ["run_id", "seq"],
    columns: {
      run_id: "text",
      seq: "integer",
      root_id: "text",
      tenant: "text",
      key_id: "text",
      model: "text",
      label: "text",
      kind: "text",
      turn: "integer",
      day: "text",
      at_ms: "integer",
      ms: "integer",
      input_tokens: "integer",
      cached_tokens: "integer",
      output_tokens: "integer",
      reasoning_tokens: "integer",
      usd: "real",
    },
    from: "usage",
  }),
  define({
    name: "questions",
    key: ["run_id", "question"],
    columns: {
      run_id: "text",
      question: "text",
      seq: "integer",
      root_id: "text",
      tenant: "text",
      at_ms: "integer",
      until_ms: "integer",
      body: "value",
      closed_at_ms: "integer",
      verdict: "text",
      reason: "text",
    },
    from: "questions",
    size: "octet_length(body)",
  }),
];
