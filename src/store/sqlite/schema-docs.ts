/**
 * The meaning of the record's tables, for people who read them with plain SQL. A test holds these rows
 * against the tables themselves, and runs the examples.
 */

export interface TableDoc {
  readonly summary: string;
  readonly columns: Readonly<Record<string, string>>;
}

export const TABLE_DOCS: Readonly<Record<string, TableDoc>> = {
  runs: {
    summary: "One row for each run: a main agent, a subagent or a server response.",
    columns: {
      id: "`run_…`; a child's is its parent's, a slash and its place: `run_…/count-1.0`",
      parent_id: "The run that started it; null for one that a person started",
      path: "Who delegated to whom: `/root/count-1.0`",
      name: "The kind of run: `agent`, `response`, or `index` for a file that is added to a vector store",
      title: "The beginning of the prompt; a subagent's label",
      input: "JSON: the task it was given, with settings and limits",
      input_blob: "Where `input` is, if it is large",
      created_at_ms: "When it was stored, before its work began",
      status: "`running` or `ended`. A run whose process died is `running` until it is resumed",
      epoch:
        "How many times a process has claimed it; 1 for a run that was never interrupted and never waited",
      owner:
        "`workers.id` of the process that executes it, or did so last; null while it waits for its turn",
      ending:
        "`completed`, `max_turns`, `budget`, `refused`, `timeout`, `cancelled`, `failed`; null while it runs",
      result: "JSON: its result; null while it runs",
      result_blob: "Where `result` is, if it is large",
      ended_at_ms: "When it ended; null while it runs",
      next_seq: "Number of events in its log",
      tenant: "The tenant whose storage it counts for; null for runs of the command line",
      bytes: "Size of its input, journal, log and result",
      journal: "Version of its journal. Older versions of Offshoot refuse to resume it",
    },
  },
  run_facts: {
    summary:
      "One short row for each run, for lists and filters. Written with the run and with its events.",
    columns: {
      run_id: "`runs.id`",
      root_id: "The run that a person or a request started",
      parent_id: "The run that started it",
      tenant: "`default` for runs of the command line",
      key_id: "The key whose request it answers, also of its subagents",
      name: "`runs.name`",
      title: "`runs.title`",
      created_at_ms: "`runs.created_at_ms`",
      status: "`runs.status`",
      ending: "`runs.ending`",
      ended_at_ms: "`runs.ended_at_ms`",
      message: "Why it ended so, shortened; empty when it completed",
      model: "`vendor/model`, as its task names it",
      label: "The name that a person or its parent gave it",
      agent: "The agent file that it runs",
      session: "The session that it belongs to",
      folder: "The folder that its tools work in",
      turns: "Number of turns it has begun",
      calls: "Number of tool calls it has begun",
      turn_seq:
        "The number of the `turn_start` of the open model call; null if no model call is open",
      turn_at_ms: "When that call began",
    },
  },
  spans: {
    summary:
      "One row for each model call, tool call and child of a run: the tree of a run without its prompts and answers.",
    columns: {
      run_id: "`runs.id`",
      seq: "The number of the event that opened it",
      root_id: "The run that a person or a request started",
      kind: "`turn`, `compaction` (a summary), `call`, `child`",
      turn: "The number of the turn; set for `turn` and `compaction`",
      name: "The tool; the label of a child",
      key: "The id of the call; the run of the child",
      under: "For a child: the key of the step of the call that started it",
      day: "The day (UTC) on which it began",
      started_at_ms: "When it began",
      ended_at_ms: "When it ended; null while it is open",
      status:
        "`open`, `ok`, `failed`, `denied`, or `cut` for one that was interrupted before it had a result",
      decided_by: "What decided whether a call may run: `rule`, `person`, …",
    },
  },
  usage: {
    summary:
      "The usage of each model call, written in the transaction that ends it. Totals come from here. The row stays when the run is deleted; it contains no text of the conversation.",
    columns: {
      run_id: "`runs.id`, also of a run that is deleted; that of a deleted subagent is replaced",
      seq: "The number of the event that opened the call; of `run_end` for `cut`",
      root_id: "The run that a person or a request started",
      tenant: "`default` for runs of the command line",
      key_id: "The key whose request it answers",
      model: "The model that answered",
      label:
        "The subagent's label, or the name of its agent. Only the name of the agent once the run is deleted",
      kind: "`turn`, `compaction`, or `cut` for all interrupted calls of the run together",
      turn: "The number of the turn; set for `turn` and `compaction`",
      day: "The day (UTC) on which it ended",
      at_ms: "When it ended",
      ms: "Duration in milliseconds",
      input_tokens: "Input tokens, cached ones included",
      cached_tokens: "Input tokens that were read from the vendor's cache",
      output_tokens: "Output tokens, those of reasoning included",
      reasoning_tokens: "Output tokens of reasoning",
      usd: "Cost in US dollars; null if the price is not known",
    },
  },
  questions: {
    summary: "Tool calls that wait, or have waited, for a person's answer.",
    columns: {
      run_id: "`runs.id`",
      question: "The name of the question in its run",
      seq: "The number of the `tool_question`",
      root_id: "The run that a person or a request started",
      tenant: "`default` for runs of the command line",
      at_ms: "When it was asked",
      until_ms: "When it is denied if there is no answer; null if it waits as long as its run",
      body: "JSON: the event",
      closed_at_ms: "When it was decided or withdrawn; null while it is open",
      verdict: "`allow`, `deny`; null for one that is open or withdrawn",
      reason: "Why, for a person",
    },
  },
  probe: {
    summary: "One row that `/readyz` rewrites to check that the disk has room.",
    columns: { id: "1", bytes: "64 KB of zeros" },
  },
  run_events: {
    summary:
      "The log, one row for each event. Query this view: everything that is shown or billed is in it.",
    columns: {
      run_id: "`runs.id`",
      seq: "The number of the event in the run's log, from 0, without gaps",
      type: "`run_start`, `turn_start`, `turn_end`, `tool_start`, `tool_question`, `tool_decision`, `tool_end`, `child_queue`, `child_start`, `child_end`, `child_budget`, `child_news`, `run_end` and the pieces of the model's answer",
      event: "JSON: the event, with its `type`. Most have `at_ms`",
    },
  },
  events: {
    summary:
      "The stored form of the log: one row for each batch of events. `run_events` shows one row for each event.",
    columns: {
      run_id: "`runs.id`",
      first_seq: "The number of the batch's first event",
      count: "Number of events in the batch",
      epoch: "The epoch of the process that wrote it",
      body: "JSON: an array of events",
      body_blob: "Where `body` is, if it is large",
    },
  },
  steps: {
    summary:
      "The journal: what finished steps returned, so that a resumed run does not repeat them.",
    columns: {
      run_id: "`runs.id`",
      key: "`model:3` is the third model call, `tool:3.0` the first call of its tools; a key that begins with `@` belongs to the engine",
      epoch: "The epoch of the process that finished it",
      value: "JSON",
      value_blob: "Where `value` is, if it is large",
    },
  },
  blobs: {
    summary: "Values over 256 KB, each of one run.",
    columns: {
      run_id: "`runs.id`",
      sha256: "Hash of the JSON. The columns whose names end in `_blob` refer to it",
      body: "JSON; empty where it is in `parts`",
      parts: "`parts.id`; null where the JSON is in `body`",
    },
  },
  parts: {
    summary:
      "The JSON of large values, in pieces of about 256 KB. Join them in order for the whole: the view `run_events` does.",
    columns: {
      id: "The id that `blobs.parts` and `things.parts` refer to",
      part: "The number of the piece, from 0",
      bytes: "UTF-8; a piece may end inside a character",
    },
  },
  drafts: {
    summary:
      "Parts that nothing refers to yet: a value that is being written. What a crash left here is removed after ten minutes without a new piece: by a server within a minute, or by the next command that opens the file, one value each.",
    columns: {
      id: "`parts.id`",
      created_at_ms: "When the first piece was written",
      boot: "The boot and the time namespace that `grew_ms` belongs to; null where an older version wrote the value",
      grew_ms:
        "When the last piece was written, in milliseconds of monotonic time. Where that was in another boot: when a process of `boot` first saw the value",
    },
  },
  signals: {
    summary: "Messages for runs.",
    columns: {
      id: "The order in which they came",
      run_id: "`runs.id`",
      topic: "Subject of the message",
      key: "A second message of a topic with the same key is the same message",
      body: "JSON",
      taken: "1 once the run has read it",
    },
  },
  turns: {
    summary:
      "Runs that take turns: background responses, files to be indexed. Gone when the run ends.",
    columns: {
      run_id: "`runs.id`",
      queue: "`background` or `index`",
      lane: "The tenant of the run. Tenants take turns",
      has_turn: "1 once it may run; 0 while it waits, without an owner",
    },
  },
  lanes: {
    summary: "When each tenant had its last turn in a queue; the lowest is next.",
    columns: {
      queue: "`background` or `index`",
      lane: "The tenant",
      last_turn: "Grows with each turn of the queue",
    },
  },
  workers: {
    summary: "Processes that executed runs in the last 24 hours.",
    columns: {
      id: "The id that `runs.owner` refers to",
      host: "The machine's name",
      pid: "The process id",
      beat_at_ms: "Time of its last heartbeat, by its wall clock; 0 once it has ended",
      boot: "The boot of its system: `pid` and `beat_ms` are only comparable within one boot",
      pid_namespace: "The PID namespace of `pid`",
      started: "When the process started, in ticks since boot",
      beat_ms: "Time of its last heartbeat, in monotonic time of that boot",
    },
  },
  things: {
    summary:
      "The data that the server stores for its tenants, one row for each thing: responses, conversations, files, keys.",
    columns: {
      position: "Number that grows with each thing",
      tenant: "The tenant that owns it; empty for the server's own",
      kind: "`response`, `response_output` (its answer), `conversation`, `conversation_item`, `file` and so on",
      id: "Unique for its kind and tenant. For an item of a conversation: the conversation's id, a slash and the item's id",
      parent:
        "The id of the thing that it belongs to and is removed with; null if it belongs to no other",
      body: "JSON; `null` where it is in `parts`",
      created_at_ms: "When it was stored",
      expires_at_ms: "Expiry time; null if it never expires",
      content_bytes: "Number of its bytes in `contents`",
      parts: "`parts.id`; null where the body is in `body`",
      parts_bytes: "Number of bytes of the body in `parts`",
    },
  },
  contents: {
    summary: "The bytes of things, in pieces of a megabyte.",
    columns: {
      position: "`things.position`",
      part: "The order of the pieces. A writer that begins again starts at the next multiple of 1048576",
      bytes:
        "The piece. An empty piece ends the content; content without one is still being written and does not count",
    },
  },
  chunks: {
    summary: "Pieces of files that can be searched, by the vector store they were added to.",
    columns: {
      id: "The id that `chunk_words.rowid` refers to",
      tenant: "The tenant that owns it",
      store: "The id of the vector store",
      file: "The id of the file",
      part: "Number of the piece, from 0, in the order of the text",
      text: "The text of the piece",
      embedding: "32-bit floats; null where there are no embeddings",
      model: "The model that made the embedding",
    },
  },
  chunk_words: {
    summary:
      "The words of `chunks`, for full-text search (FTS5): `where chunk_words match 'word'`.",
    columns: { text: "`chunks.text`" },
  },
  spending: {
    summary: "The usage of each key of the server, by window of time.",
    columns: {
      key_id: "The key",
      window: "`total`, or when the window began, in UTC: `2026-11-15`, `2026-11-15T10:31`",
      requests: "Requests admitted",
      tokens: "Input and output tokens",
      usd: "Their cost in US dollars, as far as prices are known",
      unpriced: "Tokens whose price is not known",
    },
  },
  storage: {
    summary: "The storage that each tenant of the server uses.",
    columns: {
      tenant: "The tenant that owns it",
      bytes:
        "Bytes of bodies, contents and chunks, and of the logs of stored responses and of indexing",
    },
  },
  holds: {
    summary: "The part of each key's budget that unfinished responses have reserved.",
    columns: {
      id: "The run it is for",
      key_id: "The key",
      tokens: "Reserved tokens; 0 if the key has no token limit",
      usd: "Reserved US dollars, those that the response has already spent included; 0 if the key has no limit in dollars",
      beat_at_ms: "Time of its last increase, or of the last heartbeat of its process",
    },
  },
  audit: {
    summary:
      "Who changed what on the server, and which requests were refused. It contains no prompts or answers.",
    columns: {
      id: "Number that grows with each entry",
      at_ms: "Time of the request",
      tenant: "The tenant whose data the request was about",
      key_id: "The key that was sent; null if there was none",
      action: "`responses.create`",
      target: "The id that the request was about, or null",
      status: "Status of the HTTP answer",
      address: "Network address of the client",
    },
  },
};

export interface ExampleQuery {
  readonly title: string;
  readonly sql: string;
}

/** A null price stays null in a sum of its own: unknown is not free. */
export const EXAMPLE_QUERIES: readonly ExampleQuery[] = [
  {
    title: "The tree of the newest run",
    sql: `with recursive tree (id, depth) as (
  select id, 0 from runs
  where id = (select id from runs where parent_id is null order by created_at_ms desc limit 1)
  union all
  select runs.id, depth + 1 from tree join runs on runs.parent_id = tree.id
)
select depth, title, coalesce(ending, 'not ended') as ending,
  (ended_at_ms - created_at_ms) / 1000.0 as seconds
from tree join runs using (id)
order by path;`,
  },
  {
    title: "Tokens and dollars by subagent and model",
    sql: `with settings as (
  select run_id, event ->> '$.settings.label' as label, event ->> '$.settings.model' as model
  from run_events where type = 'run_start'
)
select coalesce(label, 'root') as agent, model, count(*) as calls,
  sum(event ->> '$.usage.input_tokens') as input_tokens,
  sum(event ->> '$.usage.output_tokens') as output_tokens,
  sum(event ->> '$.cost_usd') as known_usd,
  sum(event ->> '$.cost_usd' is null) as calls_of_unknown_cost
from run_events join settings using (run_id)
where type = 'turn_end'
group by agent, model
order by known_usd desc, input_tokens desc;`,
  },
  {
    title: "Tools that fail or are denied",
    sql: `select event ->> '$.name' as tool,
  sum(type = 'tool_end') as calls,
  sum(type = 'tool_end' and event ->> '$.failed') as failed,
  sum(type = 'tool_decision' and event ->> '$.verdict' = 'deny') as denied
from run_events
where type in ('tool_end', 'tool_decision')
group by tool
order by failed desc, calls desc;`,
  },
];
