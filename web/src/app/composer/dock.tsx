/** The area below the conversation: pending actions, pause, queue, notices and composer. */
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { ApprovalCard } from '@/features/action/approval-card'
import { QuestionCard } from '@/features/action/question-card'
import { Composer } from '@/features/composer/composer'
import { NoticeList } from '@/features/connection/notice-list'
import { QueueList } from '@/features/queue/queue-list'
import { useT } from '@/features/shared/surface'
import { PausedBanner } from '@/features/status/paused-banner'
import type { Translate } from '@/system/i18n/translate'
import type { ActionRow, QueueRow, SessionRow, StatusRow } from '@/system/rows/model'
import { isQuestion } from '@/system/selectors/activity'
import { findItemTitle } from '@/system/selectors/job'
import { findAsker, type Team } from '@/system/selectors/team'
import type { Session } from '@/system/workbench/session'
import { Button } from '@/ui/button'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'
import { type NextTurn, useComposer } from './use-composer'

export interface DockProps {
  readonly session: Session
  readonly status: StatusRow | null
  readonly threads: readonly StatusRow[]
  readonly actions: readonly ActionRow[]
  readonly queue: readonly QueueRow[]
  readonly busy: boolean
  readonly archived: boolean
  /** The product that the session was imported from. Such a session is read-only. */
  readonly source: SessionRow['source']
  /** Whether a newer version wrote facts that this one cannot read. */
  readonly hasUnknownFacts: boolean
  readonly inputRef: RefObject<HTMLTextAreaElement | null>
  readonly chosen: NextTurn
  readonly team: Team | null
  /** Shown instead of the composer; null for the composer. */
  readonly toAgent: ReactNode
  readonly meter: ReactNode
}

export function Dock(props: DockProps) {
  const t = useT()
  const { workbench } = useServices()
  const { session, status, queue } = props
  useSignal(workbench.notices.changes)
  useReturnFocus(props.actions.length, props.inputRef)
  const composer = useComposer(session.id, props.chosen, props.busy ? (status?.turnId ?? '') : '')
  const sessionId = session.id
  const sentToQueue = workbench.outbox.listEntries(sessionId).filter((entry) => entry.sendMode === 'queue')
  const paused = status?.paused ?? null
  return (
    <div className="mx-auto w-full max-w-[820px] shrink-0 space-y-2 px-5 pb-3 max-sm:px-3">
      <NoticeList notices={workbench.notices.list} onDismiss={(id) => workbench.notices.dismiss(id)} />
      <PendingAction {...props} />
      {paused !== null && status !== null && (
        <PausedBanner
          cause={paused}
          queued={queue.length}
          onResume={() =>
            void workbench.attempt(() =>
              workbench.api.send('resume_thread', { sessionId, threadId: status.threadId }),
            )
          }
        />
      )}
      <QueueList
        queue={queue}
        sent={props.toAgent === null ? sentToQueue : []}
        handlers={{
          onEdit: (turnId, text) =>
            workbench.attempt(() => workbench.api.send('edit_queued_turn', { sessionId, turnId, text })),
          onPromote: (turnId) =>
            void workbench.attempt(() => workbench.api.send('promote_queued_turn', { sessionId, turnId })),
          onRemove: (turnId) =>
            void workbench.attempt(() => workbench.api.send('remove_queued_turn', { sessionId, turnId })),
        }}
      />
      {props.toAgent ?? (
        <Composer
          {...composer}
          busy={props.busy}
          placeholder={t(props.busy ? 'composer.placeholder_busy' : 'composer.placeholder')}
          disabledBecause={explainClosed(props, t)}
          inputRef={props.inputRef}
          meter={props.meter}
          instead={
            (props.source !== null || props.hasUnknownFacts) && (
              <Button look="solid" icon="plus" onClick={() => workbench.openSession(null)}>
                {t('composer.new_here')}
              </Button>
            )
          }
        />
      )}
    </div>
  )
}

function explainClosed({ source, archived, hasUnknownFacts }: DockProps, t: Translate): string | null {
  if (hasUnknownFacts) return t('composer.unknown_facts')
  if (source !== null) return t('composer.imported', { product: t(`session.source.${source}`) })
  return archived ? t('composer.archived') : null
}

/** Moves the focus to the message field when a focused action card is removed. */
function useReturnFocus(requests: number, input: RefObject<HTMLTextAreaElement | null>) {
  const before = useRef(requests)
  useEffect(() => {
    const areRemoved = before.current > 0 && requests === 0
    before.current = requests
    if (areRemoved && document.activeElement === document.body) input.current?.focus()
  }, [requests, input])
}

/** Drops drafts of answers when their actions are resolved. */
function useDraftCleanup(actions: readonly ActionRow[]) {
  const { drafts } = useServices()
  const before = useRef<readonly string[]>([])
  useEffect(() => {
    const actionIds = actions.map((action) => action.actionId)
    for (const id of before.current) if (!actionIds.includes(id)) drafts.set(id, '')
    before.current = actionIds
  }, [actions, drafts])
}

function PendingAction({ session, threads, actions, team }: DockProps) {
  const { workbench, drafts } = useServices()
  useSignal(workbench.changes)
  useSignal(drafts.changes)
  useDraftCleanup(actions)
  const [chosen, setChosen] = useState(0)
  if (actions.length === 0) return null
  const index = Math.min(chosen, actions.length - 1)
  const action = actions[index]
  if (action === undefined) return null
  const asks = threads.find((thread) => thread.agentId === action.agentId)
  const asker = findAsker(team, action)
  const { actionId } = action
  const common = {
    action,
    agentName: asker?.name ?? (threads.length > 1 ? (asks?.agentName ?? action.agentId) : ''),
    parentName: asker?.parent ?? '',
    itemTitle: team === null ? '' : findItemTitle(team, action.agentId),
    index,
    count: actions.length,
    answered: workbench.getPendingDecision(actionId),
    takesFocus: document.activeElement === null || document.activeElement === document.body,
    onNext: () => setChosen((index + 1) % actions.length),
  }
  if (isQuestion(action)) {
    return (
      <QuestionCard
        key={action.key}
        {...common}
        draft={drafts.get(actionId)}
        onDraft={(text) => drafts.set(actionId, text)}
        onAnswer={({ decision, text, mode }) =>
          void workbench.answer({
            sessionId: session.id,
            actionId,
            decision,
            ...(decision === 'answer' ? { answer: text } : text === '' ? {} : { reason: text }),
            ...(mode === 'ask' || mode === 'edits' || mode === 'full' ? { permissionMode: mode } : {}),
          })
        }
      />
    )
  }
  return (
    <ApprovalCard
      key={action.key}
      {...common}
      onAnswer={({ decision, scope, reason }) =>
        void workbench.answer({
          sessionId: session.id,
          actionId,
          decision,
          ...(decision === 'approve' ? { scope } : {}),
          ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
        })
      }
    />
  )
}
