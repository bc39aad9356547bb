/**
 * Routes that show the state of a server's models: which deployments answer, how much vendors allow, and how many
 * calls wait.
 */

import { processHealths } from "../../providers/deployments/health.ts";
import type { ModelTarget } from "../../responses/models/model-target.ts";
import type { ModelFacts } from "../../runtime/about-views.ts";
import type {
  DeploymentView,
  NamedModelView,
  ServedModelsView,
  VendorView,
} from "../admin-views.ts";
import type { Route } from "../route.ts";
import type { Metric } from "../watching/metrics.ts";
import { ADMIN } from "./admin-keys.ts";
import { toPrivate } from "./runs.ts";

export interface AdminModelParts {
  /** Collects the metrics of all processes of this server. */
  readonly collectMetrics: () => Promise<readonly Metric[]>;
  /** The server's own names of models, each with the model that it stands for. */
  readonly named: readonly (readonly [string, ModelTarget])[];
  /** Facts about a model; undefined if nothing is known. */
  readonly factsOf: (ref: string, url: string | null) => ModelFacts | undefined;
}

export function createAdminModelRoutes(parts: AdminModelParts): Route[] {
  return [
    {
      ...ADMIN,
      method: "GET",
      path: "/v1/admin/models",
      summary: "The server's names for models, the health of deployments, and vendors' limits",
      async handle() {
        const metrics = await parts.collectMetrics();
        const view: ServedModelsView = {
          object: "models",
          names: parts.named.map(([name, target]) => toNamed(name, target, parts.factsOf)),
          deployments: toDeployments(metrics),
          vendors: toVendors(metrics),
        };
        return toPrivate(view);
      },
    },
  ];
}

function toNamed(
  name: string,
  target: ModelTarget,
  factsOf: AdminModelParts["factsOf"],
): NamedModelView {
  const { model, url = null, deployments } = target;
  const all = deployments ?? [{ model, url, weight: 1, fallback: false }];
  return {
    name,
    deployments: all.map((one) => ({
      model: one.model,
      url: one.url ?? null,
      weight: one.weight,
      fallback: one.fallback,
      facts: factsOf(one.model, one.url ?? null) ?? null,
    })),
  };
}

/**
 * The state of a deployment over several processes: how many may ask it, and the longest wait. The reason is known
 * only to the process that answers.
 */
function toDeployments(metrics: readonly Metric[]): readonly DeploymentView[] {
  const reasons = new Map(processHealths.report().map(({ label, reason }) => [label, reason]));
  return group(metrics, "deployment", {
    offshoot_deployment_ready: "ready",
    offshoot_deployment_failures: "failures",
    offshoot_deployment_cooldown_seconds: "cooldown_seconds",
  }).map((row) => ({ ...row, reason: reasons.get(row.name) ?? null }));
}

function toVendors(metrics: readonly Metric[]): readonly VendorView[] {
  return group(metrics, "vendor", {
    offshoot_vendor_limit: "limit",
    offshoot_vendor_in_flight: "in_flight",
    offshoot_vendor_waiting: "waiting",
    offshoot_vendor_paused_seconds: "paused_seconds",
  });
}

type Grouped = { readonly name: string; readonly workers: number } & Record<string, unknown>;

/** Numbers by the value of a label, added up over processes. Of waits, the longest. */
function group(
  metrics: readonly Metric[],
  label: string,
  fields: Readonly<Record<string, string>>,
): Grouped[] {
  const rows = new Map<string, Map<string, number>>();
  const workers = new Map<string, Set<string>>();
  for (const { name, samples } of metrics) {
    const field = fields[name];
    if (field === undefined) continue;
    for (const { labels, value } of samples) {
      const of = labels[label] ?? "";
      const row = rows.get(of) ?? new Map<string, number>();
      rows.set(of, row);
      workers.set(of, (workers.get(of) ?? new Set()).add(labels["worker"] ?? ""));
      const before = row.get(field) ?? 0;
      row.set(field, field.endsWith("_seconds") ? Math.max(before, value) : before + value);
    }
  }
  return [...rows].map(([name, row]) => ({
    name,
    workers: workers.get(name)?.size ?? 0,
    ...Object.fromEntries(row),
  }));
}
