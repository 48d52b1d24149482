/**
 * The surfaces for another host: state, callbacks and labels go in, nothing else. A host puts a `SurfaceProvider` with its
 * labels and its reader of blobs around them; `fill` and `conversation` make their state from rows of the wire.
 */
export { type Answer, ApprovalCard, type ApprovalCardProps } from './features/approval/approval-card'
export { QuestionCard, type QuestionCardProps } from './features/approval/question-card'
export {
  type ArtifactWorkspaceProps,
  default as ArtifactWorkspace,
} from './features/artifacts/artifact-workspace'
export type { ArtifactHandlers } from './features/artifacts/handlers'
export { Composer, type ComposerProps, type Settings } from './features/composer/composer'
export { BudgetMeter } from './features/context/budget-meter'
export { ContextPanel, type ContextPanelProps } from './features/context/context-panel'
export { Conversation, type ConversationProps } from './features/conversation/conversation'
export type { ConversationHandlers } from './features/conversation/handlers'
export { Inspector, type InspectorProps } from './features/inspector/inspector'
export { ToolsPanel, type ToolsPanelProps } from './features/inspector/tools-panel'
export { type QueueHandlers, QueueList } from './features/queue/queue-list'
export type { SettingsHandlers } from './features/settings/handlers'
export { default as SettingsDialog, type SettingsDialogProps } from './features/settings/settings-dialog'
export { type Artifacts, ArtifactsProvider } from './features/shared/artifacts'
export { type Names, NamesProvider } from './features/shared/names'
export { type BlobReader, type PictureReader, type Surface, SurfaceProvider } from './features/shared/surface'
export { StatusLine, type StatusLineProps } from './features/status/status-line'
export { Board, type BoardProps } from './features/team/board'
export { Graph, type GraphProps } from './features/team/graph'
export type { TeamHandlers } from './features/team/handlers'
export { Lanes } from './features/team/lanes'
export { Roster, type RosterProps } from './features/team/roster'
export { Runs, type RunsProps } from './features/team/runs'
export { TeamBar, type TeamBarProps, type View } from './features/team/team-bar'
export { TrustBanner } from './features/trust/trust-banner'
export type { AnyRow as WireRow } from './system/generated/contracts'
export { en } from './system/i18n/en'
export { type Texts, type Translate, translator } from './system/i18n/translate'
export { conversation, type Item } from './system/rows/conversation'
export { type ActionRow, fill, type Part, type StatusRow, type TurnRow } from './system/rows/model'
export { askerOf, type Team, teamOf } from './system/rows/team'
