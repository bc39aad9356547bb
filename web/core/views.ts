/** The server's own types of what it answers with, under the names that the page uses. */

export type {
  ComparedRow,
  Comparison,
  EventView,
  FollowFrame,
  Page,
  QuestionView,
  ReplayView,
  RunDetail,
  RunView,
  SessionDetail,
  SessionView,
  TextPiece,
  ToolsView,
  TreePiece,
  TreeRow,
  UsageRowView,
  UsageView,
} from "../../src/runtime/record/views.ts";
