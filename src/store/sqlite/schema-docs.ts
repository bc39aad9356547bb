/**
 * What the tables of the record mean, for people who read them with plain SQL. A test holds these rows
 * against the tables themselves, and runs the examples.
 */

export interface TableDoc {
  readonly summary: string;
  readonly columns: Readonly<Record<string, string>>;
}

export const TABLE_DOCS: Readonly<Record<string, TableDoc>> = {
  runs: {
    summary: "One row a run: a main agent, a subagent and a server response alike.",
    columns: {
      id: "`run_…`; a child's is its parent's, a slash and its place: `run_…/count-1.0`",
      parent_id: "The run that started it; null for one that a person started",
      path: "Who delegated to whom: `/root/count-1.0`",
      name: "Which code runs it: `agent`, `response`, or `index` for a file that is added to a vector store",
      title: "The beginning of the prompt; a subagent's label",
      input: "JSON: the task it was given, with settings and limits",
      input_blob: "Where `input` is, if it is large",
      created_at_ms: "When it was written down, before anything of it happened",
      status: "`running` or `ended`. A run whose process died is `running` until it is resumed",
      epoch: "How often a process took it; 1 for a run that was never interrupted and never waited",
      owner:
        "`workers.id` of the process that runs it, or last did; null while it waits for its turn",
      ending:
        "`completed`, `max_turns`, `budget`, `refused`, `timeout`, `cancelled`, `failed`; null while it runs",
      result: "JSON: what it came to; null while it runs",
      result_blob: "Where `result` is, if it is large",
      ended_at_ms: "When it ended; null while it runs",
      next_seq: "How many events its log has",
      tenant: "Whose storage it counts for; null for runs of the command line",
      bytes: "Size of its input, journal, log and result",
      journal:
        "Version of its journal: an Offshoot that knows only older ones does not go on with the run",
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
      message: "Why it ended so, cut short; empty when it completed",
      model: "`vendor/model`, as its task names it",
      label: "What a person or its parent calls it",
      agent: "The agent of a file that it is",
      session: "The session that it belongs to",
      folder: "The folder that its tools work in",
      turns: "Turns that it has begun",
      calls: "Tool calls that it has begun",
      turn_seq: "The number of the `turn_start` of the model call that is open; null where none is",
      turn_at_ms: "When that call began",
    },
  },
  spans: {
    summary:
      "One row for each model call, tool call and child of a run: a tree without what was said.",
    columns: {
      run_id: "`runs.id`",
      seq: "The number of the event that opened it",
      root_id: "The run that a person or a request started",
      kind: "`turn`, `compaction` (a summary), `call`, `child`",
      turn: "Of a turn or a summary",
      name: "The tool; the label of a child",
      key: "The id of the call; the run of the child",
      under: "Of a child: the key of the step of the call that asked for it",
      day: "The day (UTC) on which it began",
      started_at_ms: "When it began",
      ended_at_ms: "When it ended; null while it is open",
      status:
        "`open`, `ok`, `failed`, `denied`, or `cut` for what ended without a result of its own",
      decided_by: "Who decided whether a call may run: `rule`, `person`, …",
    },
  },
  usage: {
    summary:
      "What each model call used, written in the transaction that ends it. Totals come from here. Stays when the run is deleted, without the words of its model.",
    columns: {
      run_id: "`runs.id`, also of a run that is deleted; that of a deleted subagent is replaced",
      seq: "The number of the event that opened the call; of `run_end` for `cut`",
      root_id: "The run that a person or a request started",
      tenant: "`default` for runs of the command line",
      key_id: "The key whose request it answers",
      model: "Who answered",
      label:
        "The subagent's label, else the agent that it is. The agent alone once the run is deleted",
      kind: "`turn`, `compaction`, or `cut` for all calls of the run that broke off",
      turn: "Of a turn or a summary",
      day: "The day (UTC) on which it ended",
      at_ms: "When it ended",
      ms: "How long it took",
      input_tokens: "Cached ones included",
      cached_tokens: "Of them, read from the vendor's cache",
      output_tokens: "Those of reasoning included",
      reasoning_tokens: "Of them",
      usd: "Null where the price is not known",
    },
  },
  questions: {
    summary: "Tool calls that wait, or have waited, for a person's answer.",
    columns: {
      run_id: "`runs.id`",
      question: "Its name in its run",
      seq: "The number of the `tool_question`",
      root_id: "The run that a person or a request started",
      tenant: "`default` for runs of the command line",
      at_ms: "When it was asked",
      until_ms: "When it is denied without an answer; null where it waits as long as its run does",
      body: "JSON: the event",
      closed_at_ms: "When it was decided, or its asker was gone; null while it is open",
      verdict: "`allow`, `deny`; null for one that is open, or whose asker is gone",
      reason: "Why, for a person",
    },
  },
  probe: {
    summary:
      "One row that `/readyz` writes again and again, to see whether there is room for more.",
    columns: { id: "1", bytes: "64 KB of zeros" },
  },
  run_events: {
    summary:
      "The log, one row an event: the view to ask. Everything that is shown or billed is in it.",
    columns: {
      run_id: "`runs.id`",
      seq: "Its number in the run's log, from 0, without gaps",
      type: "`run_start`, `turn_start`, `turn_end`, `tool_start`, `tool_question`, `tool_decision`, `tool_end`, `child_queue`, `child_start`, `child_end`, `child_budget`, `child_news`, `run_end` and what the model said bit by bit",
      event: "JSON: the event, with its `type`. Most have `at_ms`",
    },
  },
  events: {
    summary: "The same as it is kept: one row a batch. `run_events` takes it apart.",
    columns: {
      run_id: "`runs.id`",
      first_seq: "The number of the batch's first event",
      count: "How many events it has",
      epoch: "The owner that wrote it",
      body: "JSON: an array of events",
      body_blob: "Where `body` is, if it is large",
    },
  },
  steps: {
    summary:
      "The journal: what finished steps returned, so that a resumed run does not repeat them.",
    columns: {
      run_id: "`runs.id`",
      key: "`model:3` is the third model call, `tool:3.0` the first call of its tools; what begins with `@` is the engine's own",
      epoch: "The owner that finished it",
      value: "JSON",
      value_blob: "Where `value` is, if it is large",
    },
  },
  blobs: {
    summary: "Values over 256 KB, each of one run.",
    columns: {
      run_id: "`runs.id`",
      sha256: "Of the JSON; what the columns that end in `_blob` name",
      body: "JSON; empty where it is in `parts`",
      parts: "`parts.id`; null where the JSON is in `body`",
    },
  },
  parts: {
    summary:
      "The JSON of large values, in pieces of about 256 KB. Join them in order for the whole: the view `run_events` does.",
    columns: {
      id: "What `blobs.parts` and `things.parts` name",
      part: "From 0",
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
    summary: "Messages left for runs.",
    columns: {
      id: "The order in which they came",
      run_id: "`runs.id`",
      topic: "What it is about",
      key: "A second message of a topic with the same key is the same message",
      body: "JSON",
      taken: "1 once the run has it",
    },
  },
  turns: {
    summary:
      "Runs that take turns: background responses, files to be indexed. Gone when the run ends.",
    columns: {
      run_id: "`runs.id`",
      queue: "`background` or `index`",
      lane: "Whose run it is: turns go round the tenants",
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
    summary: "Processes that run runs, or did within a day.",
    columns: {
      id: "What `runs.owner` names",
      host: "The machine's name",
      pid: "The process",
      beat_at_ms: "When it last said that it lives, by its wall clock; 0 once it has ended",
      boot: "The start of its system, within which `pid` and `beat_ms` mean something",
      pid_namespace: "The PID namespace in which it has that number",
      started: "When the process started, in ticks since boot",
      beat_ms: "When it last said that it lives, in monotonic time of that boot",
    },
  },
  things: {
    summary:
      "What the server keeps for its tenants, one row a thing: responses, conversations, files, keys.",
    columns: {
      position: "Grows with each thing",
      tenant: "Whose it is; empty for the server's own",
      kind: "`response`, `response_output` (what it said), `conversation`, `conversation_item`, `file` and so on",
      id: "One of its kind and tenant; of an item of a conversation, the conversation's id, a slash and the item's",
      parent: "The id of the thing it goes with, and is removed with; null for none",
      body: "JSON; `null` where it is in `parts`",
      created_at_ms: "When it was put",
      expires_at_ms: "When it is to go; null for never",
      content_bytes: "How many bytes it has in `contents`",
      parts: "`parts.id`; null where the body is in `body`",
      parts_bytes: "How many bytes the body has there",
    },
  },
  contents: {
    summary: "The bytes of things, in pieces of a megabyte.",
    columns: {
      position: "`things.position`",
      part: "The order of the pieces. Whoever writes anew begins at the next multiple of 1048576",
      bytes:
        "The piece. An empty one ends the bytes; those without one are not whole yet and do not count",
    },
  },
  chunks: {
    summary: "Pieces of files that can be searched, by the vector store they were added to.",
    columns: {
      id: "What `chunk_words.rowid` names",
      tenant: "Whose it is",
      store: "The id of the vector store",
      file: "The id of the file",
      part: "From 0, in the order of the text",
      text: "The words",
      embedding: "32-bit floats; null where there are no embeddings",
      model: "What made the embedding",
    },
  },
  chunk_words: {
    summary:
      "The words of `chunks`, for full-text search (FTS5): `where chunk_words match 'word'`.",
    columns: { text: "`chunks.text`" },
  },
  spending: {
    summary: "What each key of the server has used, by window of time.",
    columns: {
      key_id: "The key",
      window: "`total`, or when the window began, in UTC: `2026-11-15`, `2026-11-15T10:31`",
      requests: "How many were let in",
      tokens: "Input and output",
      usd: "What they cost, as far as prices are known",
      unpriced: "Of the tokens, those whose price is not known",
    },
  },
  storage: {
    summary: "What each tenant of the server keeps.",
    columns: {
      tenant: "Whose it is",
      bytes: "Of bodies, contents and chunks, and of the logs of stored responses and of indexing",
    },
  },
  holds: {
    summary: "What responses on their way have set aside of their keys' budgets.",
    columns: {
      id: "The run it is for",
      key_id: "The key",
      tokens: "0 where the key has no limit of them, as `usd`",
      usd: "All in all, with what the response has used already",
      beat_at_ms: "When it last grew, or its process said that it goes on",
    },
  },
  audit: {
    summary: "Who did what on the server, without its words.",
    columns: {
      id: "Grows with each entry",
      at_ms: "When",
      tenant: "Whose things it was about",
      key_id: "The key that was shown; null for none",
      action: "`responses.create`",
      target: "The id it was about, or null",
      status: "Of the HTTP answer",
      address: "Who asked",
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
