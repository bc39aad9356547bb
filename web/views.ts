/** The table of views, from which the navigation, the palette and the routes are made. */

import type { ComponentType } from "preact";
import type { ViewProps } from "./core/view-props.ts";
import type { IconName } from "./parts/icon.tsx";
import { ApprovalsBadge, ApprovalsView } from "./views/approvals.tsx";
import { AuditView } from "./views/audit.tsx";
import { CompareView } from "./views/compare.tsx";
import { CostView } from "./views/cost.tsx";
import { FilesView } from "./views/files.tsx";
import { KeysView } from "./views/keys/keys.tsx";
import { ModelsView } from "./views/models.tsx";
import { PlaygroundView } from "./views/playground/playground.tsx";
import { RunsView } from "./views/runs.tsx";
import { SessionsView } from "./views/sessions.tsx";
import { SystemView } from "./views/system.tsx";
import { TenantsView } from "./views/tenants.tsx";
import { ToolsView } from "./views/tools.tsx";

export interface View {
  /** First part of the path. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly group: "Work" | "Insight" | "Operate";
  /** The scope that a session needs to see it. */
  readonly scope: "runs" | "approve" | "admin" | "responses" | "files";
  /** The key to press after `g`. */
  readonly key: string;
  readonly component: ComponentType<ViewProps>;
  /** A count beside the name, for example of open questions. */
  readonly badge?: ComponentType;
}

type Row = readonly [
  path: string,
  title: string,
  icon: IconName,
  scope: View["scope"],
  key: string,
  component: ComponentType<ViewProps>,
];

const WORK: readonly Row[] = [
  ["runs", "Runs", "run", "runs", "r", RunsView],
  ["approvals", "Approvals", "approvals", "runs", "a", ApprovalsView],
  ["sessions", "Sessions", "session", "runs", "s", SessionsView],
  ["playground", "Playground", "play", "responses", "p", PlaygroundView],
];
const INSIGHT: readonly Row[] = [
  ["cost", "Cost", "chart", "runs", "c", CostView],
  ["tools", "Tools", "tool", "runs", "t", ToolsView],
  ["compare", "Compare", "compare", "runs", "d", CompareView],
];
const OPERATE: readonly Row[] = [
  ["models", "Models", "model", "admin", "m", ModelsView],
  ["files", "Files", "folder", "files", "f", FilesView],
  ["keys", "Keys", "key", "admin", "k", KeysView],
  ["tenants", "Tenants", "people", "admin", "n", TenantsView],
  ["audit", "Audit", "audit", "admin", "u", AuditView],
  ["system", "System", "system", "admin", "y", SystemView],
];

export const VIEWS: readonly View[] = [
  ...toViews("Work", WORK),
  ...toViews("Insight", INSIGHT),
  ...toViews("Operate", OPERATE),
];

function toViews(group: View["group"], rows: readonly Row[]): View[] {
  return rows.map(([path, title, icon, scope, key, component]) => ({
    path,
    title,
    icon,
    group,
    scope,
    key,
    component,
    ...(path === "approvals" ? { badge: ApprovalsBadge } : {}),
  }));
}
