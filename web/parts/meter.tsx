/** The used part of a limit: a bar, and the same as figures. */

interface MeterProps {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  format(value: number): string;
}

export function Meter({ name, used, limit, format }: MeterProps) {
  const share = limit <= 0 ? 1 : Math.min(1, used / limit);
  const tone = share >= 1 ? "bad" : share >= 0.8 ? "warn" : "";
  return (
    <div class="meter">
      <small>
        {name}: {format(used)} of {format(limit)}
      </small>
      <span
        class="meter-room"
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
      >
        <span class={`meter-fill ${tone}`} style={{ width: `${share * 100}%` }} />
      </span>
    </div>
  );
}
