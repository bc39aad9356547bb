/** Bars over time, stacked by series, as our own SVG. All figures come from the roll-up. */

import { useState } from "preact/hooks";
import { MOST_SERIES, type Series } from "../core/series.ts";

interface ChartProps {
  readonly title: string;
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  format(value: number): string;
}

const WIDTH = 560;
const HEIGHT = 190;
const LEFT = 50;
const BOTTOM = 22;
const TOP = 8;

export function StackedBars({ title, labels, series, format }: ChartProps) {
  const [at, point] = useState<number | undefined>(undefined);
  const totals = labels.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
  const most = toRound(Math.max(...totals, 0)) || 1;
  const shown = at === undefined ? sum(totals) : (totals[at] ?? 0);
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="quiet number">
          {at === undefined ? "" : `${labels[at]}: `}
          {format(shown)}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: ${describe(labels, totals, format)}`}
      >
        <Grid most={most} format={format} />
        <Bars labels={labels} series={series} most={most} at={at} point={point} />
      </svg>
      <ul class="legend">
        {series.map(({ name, values }, order) => (
          <li key={name}>
            <span class={`swatch tone-${order % MOST_SERIES}`} aria-hidden="true" />
            {name}{" "}
            <span class="quiet">{format((at === undefined ? sum(values) : values[at]) ?? 0)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

/**
 * The next of 1, 2, 2.5, 5 and 10 times a power of ten, so that the grid lines have short labels.
 */
function toRound(value: number): number {
  if (value <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 5, 10].find((one) => value <= one * power) ?? 10;
  return step * power;
}

function toY(value: number, most: number): number {
  return HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - TOP);
}

function Grid({ most, format }: { readonly most: number; format(value: number): string }) {
  return (
    <>
      {[0, 0.5, 1].map((part) => (
        <g key={part}>
          <line
            class="grid"
            x1={LEFT}
            x2={WIDTH}
            y1={toY(most * part, most)}
            y2={toY(most * part, most)}
          />
          <text x={LEFT - 8} y={toY(most * part, most) + 3.5} text-anchor="end">
            {format(most * part)}
          </text>
        </g>
      ))}
    </>
  );
}

interface BarsProps extends Pick<ChartProps, "labels" | "series"> {
  readonly most: number;
  readonly at: number | undefined;
  point(at: number | undefined): void;
}

function Bars({ labels, series, most, at, point }: BarsProps) {
  const step = (WIDTH - LEFT) / Math.max(1, labels.length);
  const width = Math.min(36, Math.max(1, step * 0.72));
  const every = Math.ceil(labels.length / 7);
  return (
    <>
      {labels.map((label, index) => {
        const x = LEFT + index * step;
        let below = 0;
        return (
          <g
            key={label}
            class={at === index ? "pointed" : ""}
            onPointerEnter={() => point(index)}
            onPointerLeave={() => point(undefined)}
          >
            <rect class="reach" x={x} y={0} width={step} height={HEIGHT - BOTTOM} />
            {series.map(({ name, values }, order) => {
              const value = values[index] ?? 0;
              const y = toY(below + value, most);
              const height = toY(below, most) - y;
              below += value;
              const bar = { x: x + (step - width) / 2, y, width, height };
              return (
                height > 0 && (
                  <rect key={name} class={`tone-${order % MOST_SERIES}`} rx={1.5} {...bar} />
                )
              );
            })}
            {index % every === 0 && (
              <text x={x + step / 2} y={HEIGHT - 6} text-anchor="middle">
                {label}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

function describe(
  labels: readonly string[],
  totals: readonly number[],
  format: (value: number) => string,
): string {
  return labels.map((label, at) => `${label} ${format(totals[at] ?? 0)}`).join(", ");
}
