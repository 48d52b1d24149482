/**
 * The surfaces for another host: state, callbacks and labels go in, nothing else. A host puts a `SurfaceProvider` with its
 * labels and its reader of blobs around them; `fill` and `conversation` make their state from rows of the wire.
 */
export { type Answer, ApprovalCard, type ApprovalCardProps } from './features/approval/approval-card'
export { Composer, type ComposerProps, type Settings } from './features/composer/composer'
export { Conversation, type ConversationProps } from './features/conversation/conversation'
export type { ConversationHandlers } from './features/conversation/handlers'
export { Inspector, type InspectorProps } from './features/inspector/inspector'
export { type QueueHandlers, QueueList } from './features/queue/queue-list'
export { type BlobReader, type Surface, SurfaceProvider } from './features/shared/surface'
export { StatusLine, type StatusLineProps } from './features/status/status-line'
export type { AnyRow as WireRow } from './system/generated/contracts'
export { en } from './system/i18n/en'
export { type Texts, type Translate, translator } from './system/i18n/translate'
export { conversation, type Item } from './system/rows/conversation'
export { type ActionRow, fill, type Part, type StatusRow, type TurnRow } from './system/rows/model'
