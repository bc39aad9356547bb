/** A few figures in a row. */

interface FactsProps {
  /** Undefined leaves a fact out. */
  readonly of: Readonly<Record<string, string | undefined>>;
  readonly look?: "small" | "";
}

export function Facts({ of, look = "small" }: FactsProps) {
  const shown = Object.entries(of).filter(([, value]) => value !== undefined);
  return (
    <dl class={`facts ${look}`}>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
