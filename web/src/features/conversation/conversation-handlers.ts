import type { SentInput } from '@/system/stores/outbox'

/** Actions in the conversation. */
export interface ConversationHandlers {
  readonly onToggleTurn: (turnId: string) => void
  readonly onInspectTurn: (turnId: string) => void
  readonly onNeedParts: (turnId: string) => void
  /** Put text into the composer. */
  readonly onReuse: (text: string) => void
  readonly onSendAsTurn: (text: string) => void
  readonly onSendAgain: (entry: SentInput) => void
  readonly onDiscard: (entry: SentInput) => void
}
