/** Bars over time, stacked by series, as SVG of our own. Figures come from the roll-up alone. */

import { useState } from "preact/hooks";
import { MOST_SERIES, type Series } from "../core/series.ts";

interface ChartProps {
  readonly title: string;
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  format(value: number): string;
}

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 56;
const BOTTOM = 22;

export function StackedBars({ title, labels, series, format }: ChartProps) {
  const [at, point] = useState<number | undefined>(undefined);
  const totals = labels.map((_, index) =>
    series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  const most = Math.max(...totals, 0) || 1;
  const step = (WIDTH - LEFT) / Math.max(1, labels.length);
  const toHeight = (value: number): number => (value / most) * (HEIGHT - BOTTOM - 8);
  const every = Math.ceil(labels.length / 8);
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="quiet">
          {at === undefined
            ? ` · ${format(totals.reduce((a, b) => a + b, 0))}`
            : ` · ${labels[at]}: ${format(totals[at] ?? 0)}`}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: ${describe(labels, totals, format)}`}
      >
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line
              class="grid"
              x1={LEFT}
              x2={WIDTH}
              y1={HEIGHT - BOTTOM - toHeight(most * part)}
              y2={HEIGHT - BOTTOM - toHeight(most * part)}
            />
            <text x={LEFT - 6} y={HEIGHT - BOTTOM - toHeight(most * part) + 4} text-anchor="end">
              {format(most * part)}
            </text>
          </g>
        ))}
        {labels.map((label, index) => {
          let y = HEIGHT - BOTTOM;
          return (
            <g
              key={label}
              class={at === index ? "pointed" : ""}
              onPointerEnter={() => point(index)}
              onPointerLeave={() => point(undefined)}
            >
              <rect
                class="reach"
                x={LEFT + index * step}
                y={0}
                width={step}
                height={HEIGHT - BOTTOM}
              />
              {series.map(({ name, values }, order) => {
                const height = toHeight(values[index] ?? 0);
                y -= height;
                return (
                  height > 0 && (
                    <rect
                      key={name}
                      class={`tone-${order % MOST_SERIES}`}
                      x={LEFT + index * step + 1}
                      y={y}
                      width={Math.max(1, step - 2)}
                      height={height}
                    />
                  )
                );
              })}
              {index % every === 0 && (
                <text x={LEFT + (index + 0.5) * step} y={HEIGHT - 6} text-anchor="middle">
                  {label}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <ul class="legend">
        {series.map(({ name, values }, order) => (
          <li key={name}>
            <span class={`swatch tone-${order % MOST_SERIES}`} aria-hidden="true" />
            {name}{" "}
            <span class="quiet">
              {format((at === undefined ? values.reduce((a, b) => a + b, 0) : values[at]) ?? 0)}
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function describe(
  labels: readonly string[],
  totals: readonly number[],
  format: (value: number) => string,
): string {
  return labels.map((label, at) => `${label} ${format(totals[at] ?? 0)}`).join(", ");
}
