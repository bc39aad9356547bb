/**
 * The metrics of a server: a small registry, and its text form for Prometheus (format 0.0.4).
 *
 * A snapshot is plain data, so that worker processes can send theirs: `joinMetrics` adds them up.
 */

export type Labels = Readonly<Record<string, string>>;

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels: Labels;
  /** The number itself; for a histogram, the sum of the observations. */
  readonly value: number;
  /**
   * For a histogram: the number of observations up to each bound; the last one counts all of them.
   */
  readonly counts?: readonly number[] | undefined;
  readonly bounds?: readonly number[] | undefined;
}

export interface Registry {
  counter(name: string, help: string): { add(labels: Labels, amount?: number): void };
  /** `read` is called when the metrics are read. */
  gauge(name: string, help: string, read: () => readonly Sample[]): void;
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
  ): { observe(labels: Labels, value: number): void };
  read(): Metric[];
}

/** A client that invents routes or models must not fill the memory. */
const MAX_SERIES = 2000;

export function createRegistry(): Registry {
  const reads: (() => Metric)[] = [];
  const add = (head: Omit<Metric, "samples">, samples: () => readonly Sample[]): void => {
    reads.push(() => ({ ...head, samples: samples() }));
  };
  return {
    counter(name, help) {
      const series = createSeries((labels) => ({ labels, value: 0 }));
      add({ name, help, type: "counter" }, series.read);
      return {
        add(labels, amount = 1) {
          const sample = series.find(labels);
          if (sample) sample.value += amount;
        },
      };
    },
    gauge: (name, help, read) => add({ name, help, type: "gauge" }, read),
    histogram(name, help, bounds) {
      const empty = (): number[] => new Array<number>(bounds.length + 1).fill(0);
      const series = createSeries((labels) => ({ labels, value: 0, bounds, counts: empty() }));
      add({ name, help, type: "histogram" }, series.read);
      return {
        observe(labels, value) {
          const sample = series.find(labels);
          if (!sample) return;
          sample.value += value;
          for (const [at, bound] of bounds.entries()) {
            if (value <= bound) sample.counts[at] = (sample.counts[at] ?? 0) + 1;
          }
          sample.counts[bounds.length] = (sample.counts[bounds.length] ?? 0) + 1;
        },
      };
    },
    read: () => reads.map((read) => read()),
  };
}

interface Series<One> {
  /** Undefined if there are too many. */
  find(labels: Labels): One | undefined;
  read(): readonly One[];
}

function createSeries<One>(make: (labels: Labels) => One): Series<One> {
  const all = new Map<string, One>();
  return {
    find(labels) {
      const key = toKey(labels);
      const known = all.get(key);
      if (known || all.size >= MAX_SERIES) return known;
      const made = make(labels);
      all.set(key, made);
      return made;
    },
    read: () => [...all.values()],
  };
}

function toKey(labels: Labels): string {
  return JSON.stringify(Object.entries(labels));
}

/**
 * Joins the same series of several processes. Series that must not be added up have a label for their process.
 */
export function joinMetrics(snapshots: readonly (readonly Metric[])[]): Metric[] {
  const joined = new Map<string, { readonly metric: Metric; samples: Map<string, Sample> }>();
  for (const metric of snapshots.flat()) {
    const { samples } = joined.get(metric.name) ?? { samples: new Map<string, Sample>() };
    joined.set(metric.name, { metric, samples });
    for (const sample of metric.samples) {
      const key = toKey(sample.labels);
      samples.set(key, addSamples(samples.get(key), sample));
    }
  }
  return [...joined.values()].map(({ metric, samples }) => ({
    ...metric,
    samples: [...samples.values()],
  }));
}

function addSamples(a: Sample | undefined, b: Sample): Sample {
  if (!a) return b;
  const counts = b.counts?.map((count, at) => count + (a.counts?.[at] ?? 0));
  return { ...b, value: a.value + b.value, counts };
}

export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics.map(renderMetric).join("");
}

function renderMetric({ name, help, type, samples }: Metric): string {
  const lines = samples.flatMap((sample) => renderSample(name, sample));
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

function renderSample(name: string, { labels, value, counts, bounds = [] }: Sample): string[] {
  if (!counts) return [`${name}${renderLabels(labels)} ${renderNumber(value)}`];
  const all = counts.at(-1) ?? 0;
  return [
    ...counts.map((count, at) => {
      const le = at < bounds.length ? renderNumber(bounds[at] ?? 0) : "+Inf";
      return `${name}_bucket${renderLabels({ ...labels, le })} ${count}`;
    }),
    `${name}_sum${renderLabels(labels)} ${renderNumber(value)}`,
    `${name}_count${renderLabels(labels)} ${all}`,
  ];
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function renderNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
