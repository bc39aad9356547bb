/** Tokens, as the Responses API counts them. The same shape for a turn, a run and a tree of runs. */

/** Plain types: this file is on the way to the first request, and zod is not (bench/start.ts). */
export interface Usage {
  input_tokens: number;
  input_tokens_details: {
    /** Part of `input_tokens` that was read from the vendor's prompt cache. */
    cached_tokens: number;
    /** Part of `input_tokens` that was written to it; 0 for vendors that do not say. */
    cache_write_tokens: number;
    /**
     * Part of `cache_write_tokens` that is kept for an hour, which costs more; left out if there is none.
     */
    cache_write_hour_tokens?: number;
    /** Part of `input_tokens` that the vendor does not charge for; left out if it charges for all. */
    unbilled_tokens?: number;
  };
  output_tokens: number;
  output_tokens_details: {
    /** Part of `output_tokens`. */
    reasoning_tokens: number;
    /** Part of `output_tokens` that the vendor does not charge for; left out if it charges for all. */
    unbilled_tokens?: number;
  };
  total_tokens: number;
  /**
   * Calls of tools that the vendor runs and bills for each call, by its names; left out if there are none.
   */
  native_calls?: Record<string, number>;
}

/** Builds a usage from a vendor's counts; a count that is missing or below 0 is 0. */
export function toUsage(counts: {
  input?: number | undefined;
  cached?: number | undefined;
  cacheWrite?: number | undefined;
  /** Part of `cacheWrite`. */
  cacheWriteHour?: number | undefined;
  /** Part of `input`. */
  unbilledInput?: number | undefined;
  output?: number | undefined;
  reasoning?: number | undefined;
  /** Part of `output`. */
  unbilledOutput?: number | undefined;
  nativeCalls?: Readonly<Record<string, number>> | undefined;
}): Usage {
  // A negative number would be given back to the budget.
  const input = Math.max(0, counts.input ?? 0);
  const output = Math.max(0, counts.output ?? 0);
  const cached = Math.max(0, counts.cached ?? 0);
  const cacheWrite = Math.max(0, counts.cacheWrite ?? 0);
  const reasoning = Math.max(0, counts.reasoning ?? 0);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: cacheWrite,
      ...hourWritten(counts.cacheWriteHour),
      ...unbilled(counts.unbilledInput),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning, ...unbilled(counts.unbilledOutput) },
    total_tokens: input + output,
    ...callsMade(counts.nativeCalls),
  };
}

export const NO_USAGE: Usage = toUsage({});

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    input_tokens_details: {
      cached_tokens: a.input_tokens_details.cached_tokens + b.input_tokens_details.cached_tokens,
      cache_write_tokens:
        a.input_tokens_details.cache_write_tokens + b.input_tokens_details.cache_write_tokens,
      ...hourWritten(hourOf(a) + hourOf(b)),
      ...unbilled(unbilledOf(a.input_tokens_details) + unbilledOf(b.input_tokens_details)),
    },
    output_tokens: a.output_tokens + b.output_tokens,
    output_tokens_details: {
      reasoning_tokens:
        a.output_tokens_details.reasoning_tokens + b.output_tokens_details.reasoning_tokens,
      ...unbilled(unbilledOf(a.output_tokens_details) + unbilledOf(b.output_tokens_details)),
    },
    total_tokens: a.total_tokens + b.total_tokens,
    ...callsMade(a.native_calls, b.native_calls),
  };
}

type Calls = Readonly<Record<string, number>> | undefined;

function callsMade(...all: readonly Calls[]): Pick<Usage, "native_calls"> {
  const sums: Record<string, number> = {};
  for (const calls of all) {
    for (const name in calls) {
      const count = calls[name] ?? 0;
      if (count > 0) sums[name] = (sums[name] ?? 0) + count;
    }
  }
  return Object.keys(sums).length > 0 ? { native_calls: sums } : {};
}

function hourOf({ input_tokens_details: details }: Usage): number {
  return details.cache_write_hour_tokens ?? 0;
}

function hourWritten(tokens = 0): Pick<Usage["input_tokens_details"], "cache_write_hour_tokens"> {
  return tokens > 0 ? { cache_write_hour_tokens: tokens } : {};
}

interface Unbilled {
  unbilled_tokens?: number;
}

function unbilledOf({ unbilled_tokens }: Unbilled): number {
  return unbilled_tokens ?? 0;
}

function unbilled(tokens = 0): Unbilled {
  return tokens > 0 ? { unbilled_tokens: tokens } : {};
}
