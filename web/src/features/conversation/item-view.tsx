import { useEffect } from 'react'
import type { Part } from '@/system/rows/model'
import type { Item } from '@/system/selectors/conversation'
import type { SentInput } from '@/system/stores/outbox'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { ArtifactCard, ArtifactCards } from '../artifact/artifact-card'
import { ContextLine } from '../context/context-line'
import { useT } from '../shared/surface'
import { ToolRow } from '../tool/tool-row'
import { Answer, ProcessText } from './answer'
import { HandoffLine } from './handoff-line'
import { Plan } from './plan'
import { Reasoning } from './reasoning'
import { MessageLine, RemoteLine, WorkerLine } from './received-lines'
import { SentEntry } from './sent-entry'
import { SteerLine } from './steer-line'
import { SummaryRow } from './summary-row'
import { TurnInput } from './turn-input'
import { ActionLine, ErrorLine, NoticeLine, OutcomeLine } from './turn-lines'

/** An item of the conversation. */
export function ItemView(props: {
  readonly item: Item
  readonly handlers: ConversationHandlers
  /** Calls that await a decision. */
  readonly waiting: ReadonlySet<string>
  readonly failedParts: ReadonlySet<string>
  /** The agent that gives this agent its work; absent if a person does. */
  readonly parentName?: string
}) {
  const { item, handlers } = props
  switch (item.kind) {
    case 'input':
      return (
        <TurnInput
          input={item.turn.input}
          auto={item.turn.mode === 'auto'}
          source={item.turn.source}
          parentName={props.parentName ?? ''}
          refs={item.turn.given}
          missing={item.turn.missing}
        />
      )
    case 'part':
      return (
        <PartView
          part={item.part}
          live={item.turn.state === 'running'}
          unattended={item.unattended}
          handlers={handlers}
          waiting={props.waiting}
        />
      )
    case 'summary':
      return (
        <SummaryRow
          activity={item.activity}
          open={item.open}
          onToggle={() => handlers.onToggleTurn(item.turn.turnId)}
        />
      )
    case 'answer':
      return (
        <Answer
          part={item.part}
          last={item.last}
          onInspect={() => handlers.onInspectTurn(item.turn.turnId)}
        />
      )
    case 'outcome':
      return <OutcomeLine turn={item.turn} error={item.error} onReuse={handlers.onReuse} />
    case 'artifacts':
      return <ArtifactCards parts={item.parts} />
    case 'working':
      return <Working />
    case 'unloaded':
      return (
        <Unloaded
          turnId={item.turn.turnId}
          failed={props.failedParts.has(item.turn.turnId)}
          onNeedParts={handlers.onNeedParts}
        />
      )
    case 'sent':
      return (
        <SentEntry entry={item.entry} onSendAgain={handlers.onSendAgain} onDiscard={handlers.onDiscard} />
      )
  }
}

function PartView(props: {
  readonly part: Part
  readonly live: boolean
  readonly unattended: boolean
  readonly handlers: ConversationHandlers
  readonly waiting: ReadonlySet<string>
}) {
  const { part, handlers } = props
  switch (part.kind) {
    case 'assistant_text':
      return <ProcessText part={part} />
    case 'reasoning_summary':
      return <Reasoning part={part} />
    case 'tool_call':
      return <ToolRow part={part} waiting={props.waiting.has(part.toolCallId)} />
    case 'action_required':
      return <ActionLine part={part} unattended={props.unattended} />
    case 'user_text':
      return <SteerLine part={part} onSendAsTurn={handlers.onSendAsTurn} onReuse={handlers.onReuse} />
    case 'runtime_status':
      return part.agentId === '' ? <NoticeLine part={part} live={props.live} /> : <MessageLine part={part} />
    case 'plan':
      return <Plan part={part} />
    case 'worker_notification':
      return <WorkerLine part={part} />
    case 'agent_handoff':
      return <HandoffLine part={part} />
    case 'remote_agent_status':
      return <RemoteLine part={part} />
    case 'artifact_ref':
      return <ArtifactCard part={part} />
    case 'context_event':
      return <ContextLine part={part} />
    case 'error':
      return <ErrorLine part={part} />
  }
}

/** Shown while the turn is working and has no streaming row. The status line has the details. */
function Working() {
  return (
    <div className="flex h-7 items-center gap-1 text-accent" aria-hidden="true">
      <span className="size-1.5 animate-breathe rounded-full bg-accent" />
      <span className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:200ms]" />
      <span className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:400ms]" />
    </div>
  )
}

function Unloaded(props: {
  readonly turnId: string
  readonly failed: boolean
  readonly onNeedParts: (turnId: string) => void
}) {
  const t = useT()
  const { turnId, failed, onNeedParts } = props
  useEffect(() => {
    if (!failed) onNeedParts(turnId)
  }, [turnId, failed, onNeedParts])
  if (!failed) return <p className="flex h-16 items-center text-ink-faint">{t('turn.loading')}</p>
  return (
    <p className="flex h-16 items-center gap-2 text-ink-soft">
      <Icon name="warning" size={14} />
      {t('turn.load_failed')}
      <Button look="outline" onClick={() => onNeedParts(turnId)}>
        {t('turn.load_again')}
      </Button>
    </p>
  )
}

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
