/**
 * The names of deployments in records, log lines and metrics. They contain no path of an address and no
 * password.
 */

interface Addressed {
  /** `vendor/model`. */
  readonly model: string;
  readonly url: string | null;
}

/**
 * Labels such as `custom/qwen3-8b@gpu-1:8000`. Deployments that differ only in their key or API get a
 * number.
 */
export function labelDeployments(deployments: readonly Addressed[]): readonly string[] {
  const plain = deployments.map(({ model, url }) => (url ? `${model}@${hostOf(url)}` : model));
  return plain.map((label, at) => {
    const before = plain.slice(0, at).filter((other) => other === label).length;
    return before === 0 ? label : `${label}#${before + 1}`;
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "?";
}
