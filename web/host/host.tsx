/**
 * A minimal host of the surfaces: it passes rows and labels in, and receives the person's actions. It
 * uses no other part of Callboard's page.
 */

import {
  type ActionRow,
  type Answer,
  ApprovalCard,
  buildConversation,
  Conversation,
  type ConversationHandlers,
  createTranslator,
  en,
  fillRow,
  type Part,
  StatusLine,
  type StatusRow,
  type Surface,
  SurfaceProvider,
  type TurnRow,
  type WireRow,
} from 'callboard-web/surfaces'
import { useState } from 'react'

export interface HostProps {
  readonly rows: readonly WireRow[]
  /** Receives an action of the person by name. */
  readonly onAction: (name: string, value: unknown) => void
}

/** Labels that the host replaces. */
const LABELS = { ...en, 'turn.you': 'Reviewer', 'action.approve': 'Let it run' }

const SURFACE: Surface = {
  t: createTranslator(LABELS, 'en'),
  blobs: { get: () => undefined, load: () => {}, subscribe: () => () => {} },
}
const NOTHING: ReadonlySet<string> = new Set()

export function Host({ rows, onAction }: HostProps) {
  const [opened, setOpened] = useState(NOTHING)
  const filled = rows.flatMap((row) => fillRow(row) ?? [])
  const turns = filled.filter((row): row is TurnRow => row.kind === 'turn')
  const parts = filled.filter((row): row is Part => 'turnId' in row && 'at' in row)
  const action = filled.find((row): row is ActionRow => row.kind === 'action')
  const status = filled.find((row): row is StatusRow => row.kind === 'status') ?? null
  const items = buildConversation(turns, {
    opened,
    sent: [],
    getParts: (turnId) => parts.filter((part) => part.turnId === turnId),
    hasParts: () => true,
  })
  const report = (name: string) => (value: unknown) => onAction(name, value)
  const handlers: ConversationHandlers = {
    onToggleTurn: (turnId) => setOpened(new Set([...opened, turnId])),
    onInspectTurn: report('inspect'),
    onNeedParts: report('need parts'),
    onReuse: report('reuse'),
    onSendAsTurn: report('send as turn'),
    onSendAgain: report('send again'),
    onDiscard: report('discard'),
  }
  return (
    <SurfaceProvider value={SURFACE}>
      <StatusLine status={status} runningSince={0} onInterrupt={() => onAction('interrupt', null)} />
      <Conversation
        items={items}
        handlers={handlers}
        waiting={NOTHING}
        failedParts={NOTHING}
        loadingOlder={false}
        reachedStart
        mayHaveOlder={false}
        onLoadOlder={() => onAction('load older', null)}
      />
      {action !== undefined && (
        <ApprovalCard
          action={action}
          agentName=""
          index={0}
          count={1}
          answered={null}
          takesFocus={false}
          onAnswer={(answer: Answer) => onAction('answer', answer)}
          onNext={() => onAction('next', null)}
        />
      )}
    </SurfaceProvider>
  )
}
