/**
 * The surfaces for another host: state, callbacks and labels go in. A host renders them inside a
 * `SurfaceProvider` with its labels and a blob reader. `fillRow` and `buildConversation` build their
 * state from wire rows.
 */
export { type Answer, ApprovalCard, type ApprovalCardProps } from './features/action/approval-card'
export { QuestionCard, type QuestionCardProps } from './features/action/question-card'
export { Roster, type RosterProps } from './features/agent/roster'
export type { ArtifactHandlers } from './features/artifact/artifact-handlers'
export {
  type ArtifactWorkspaceProps,
  default as ArtifactWorkspace,
} from './features/artifact/artifact-workspace'
export { Board, type BoardProps } from './features/board/board'
export { Composer, type ComposerProps, type ComposerSettings } from './features/composer/composer'
export { BudgetMeter } from './features/context/budget-meter'
export { ContextPanel, type ContextPanelProps } from './features/context/context-panel'
export { Conversation, type ConversationProps } from './features/conversation/conversation'
export type { ConversationHandlers } from './features/conversation/item-view'
export { TurnDetails, type TurnDetailsProps } from './features/details/turn-details'
export { Graph, type GraphProps } from './features/graph/graph'
export { Lanes } from './features/lanes/lanes'
export { type QueueHandlers, QueueList } from './features/queue/queue-list'
export { RunList, type RunListProps } from './features/run/run-list'
export { default as SettingsDialog, type SettingsDialogProps } from './features/settings/settings-dialog'
export type { SettingsHandlers } from './features/settings/settings-section'
export {
  type Artifacts,
  ArtifactsProvider,
  type BlobReader,
  type ImageReader,
  type Names,
  NamesProvider,
  ReadOnlyProvider,
  type Surface,
  SurfaceProvider,
} from './features/shared/surface'
export type { TeamHandlers } from './features/shared/team-handlers'
export { StatusLine, type StatusLineProps } from './features/status/status-line'
export { TeamBar, type TeamBarProps, type View } from './features/team/team-bar'
export { ToolsPanel, type ToolsPanelProps } from './features/tool/tools-panel'
export { TrustBanner } from './features/workspace/trust-banner'
export type { AnyRow as WireRow } from './system/generated/contracts'
export { en } from './system/i18n/en'
export { createTranslator, type Texts, type Translate } from './system/i18n/translate'
export { type ActionRow, fillRow, type Part, type StatusRow, type TurnRow } from './system/rows/model'
export { buildConversation, type Item } from './system/selectors/conversation'
export { buildTeam, findAsker, type Team } from './system/selectors/team'
