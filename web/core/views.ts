/** The server's own types of its answers, under the names that the page uses. */

export type { SettingView } from "../../src/runtime/about-views.ts";
export type {
  FailedCallView,
  ToolsView,
  UsageRowView,
  UsageView,
} from "../../src/runtime/record/usage-views.ts";
export type {
  ComparedRow,
  Comparison,
  EventView,
  FollowFrame,
  QuestionView,
  RecordPage,
  ReplayView,
  RunDetail,
  RunView,
  SessionDetail,
  SessionView,
  TextPiece,
  TreePiece,
  TreeRow,
  WatchFrame,
} from "../../src/runtime/record/views.ts";
export type {
  CallStep,
  ChangeView,
  CompactionStep,
  DecisionView,
  StepView,
  TurnStep,
} from "../../src/runtime/run-steps/step-views.ts";
export type {
  CheckView,
  DeploymentView,
  KeyChangeBody,
  ListedKeyView,
  NamedModelView,
  NewKeyView,
  OwnToolsView,
  QueueView,
  ServedModelsView,
  SystemView,
  TenantView,
  VendorView,
} from "../../src/server/admin-views.ts";
export type { StoredAuditEntry as AuditView } from "../../src/store/audit.ts";
