/** The table of views: the navigation, the palette and the routes are made of it. */

import type { ComponentType } from "preact";
import type { ViewProps } from "./core/view-props.ts";
import { ApprovalsBadge, ApprovalsView } from "./views/approvals.tsx";
import { CompareView } from "./views/compare.tsx";
import { CostView } from "./views/cost.tsx";
import { PlaygroundView } from "./views/playground.tsx";
import { RunsView } from "./views/runs.tsx";
import { SessionsView } from "./views/sessions.tsx";
import { ToolsView } from "./views/tools.tsx";

export interface View {
  /** First part of the path. */
  readonly path: string;
  readonly title: string;
  readonly group: "Work" | "Insight" | "Operate";
  /** The scope that a session needs to see it. */
  readonly scope: "runs" | "approve" | "admin" | "responses";
  /** Pressed after `g`. */
  readonly key: string;
  readonly component: ComponentType<ViewProps>;
  /** A count beside the name, such as of open questions. */
  readonly badge?: ComponentType;
}

export const VIEWS: readonly View[] = [
  { path: "runs", title: "Runs", group: "Work", scope: "runs", key: "r", component: RunsView },
  {
    path: "sessions",
    title: "Sessions",
    group: "Work",
    scope: "runs",
    key: "s",
    component: SessionsView,
  },
  {
    path: "approvals",
    title: "Approvals",
    group: "Work",
    scope: "runs",
    key: "a",
    component: ApprovalsView,
    badge: ApprovalsBadge,
  },
  {
    path: "playground",
    title: "Playground",
    group: "Work",
    scope: "responses",
    key: "p",
    component: PlaygroundView,
  },
  {
    path: "compare",
    title: "Compare",
    group: "Insight",
    scope: "runs",
    key: "d",
    component: CompareView,
  },
  { path: "cost", title: "Cost", group: "Insight", scope: "runs", key: "c", component: CostView },
  {
    path: "tools",
    title: "Tools",
    group: "Insight",
    scope: "runs",
    key: "t",
    component: ToolsView,
  },
];
