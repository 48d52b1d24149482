import { type ReactNode, type RefObject, useCallback, useMemo, useState } from 'react'
import { ConnectionBanner } from '@/features/connection/connection-banner'
import { isUnreadable, UnreadableSession } from '@/features/connection/unreadable-session'
import { BudgetMeter } from '@/features/context/budget-meter'
import { Conversation } from '@/features/conversation/conversation'
import type { ConversationHandlers } from '@/features/conversation/item-view'
import { type Artifacts, ArtifactsProvider, NamesProvider, useT } from '@/features/shared/surface'
import { findAgentName } from '@/system/selectors/team'
import type { Session } from '@/system/workbench/session'
import { SNAPSHOT_TURNS } from '@/system/workbench/session'
import { Button } from '@/ui/button'
import { Dock } from '../composer/dock'
import { type NextTurn, useNextTurn } from '../composer/use-composer'
import { useSessionNames } from '../rows/use-names'
import type { useSessionRows } from '../rows/use-session-rows'
import { findLeadThread } from '../rows/use-session-rows'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'
import { findThreadContext } from './use-context-panel'

export interface SessionViewProps {
  readonly session: Session
  readonly view: ReturnType<typeof useSessionRows>
  readonly inputRef: RefObject<HTMLTextAreaElement | null>
  readonly onInspectTurn: (turnId: string) => void
  readonly artifacts: Artifacts
  readonly onShowContext: () => void
  /**
   * Shown instead of the conversation; null for the conversation. `onNeedParts` reads a turn's
   * parts.
   */
  readonly instead: ((onNeedParts: (turnId: string) => void) => ReactNode) | null
  /** Shown above the conversation. */
  readonly head: ReactNode
  /** The message form of an agent other than the lead; null for the lead. */
  readonly toAgent: ReactNode
}

export function SessionView(props: SessionViewProps) {
  const { session, view, inputRef, onInspectTurn } = props
  const t = useT()
  const { workbench } = useServices()
  useSignal(session.feed.changes)
  useSignal(session.changes)
  const chosen = useNextTurnOfLead(session, view)
  const handlers = useHandlers(session, view, chosen, onInspectTurn)
  const loadOlder = useCallback(() => void workbench.attempt(() => session.loadOlder()), [workbench, session])
  const { failed, onNeedParts } = useParts(session)
  const allHandlers = useMemo(() => ({ ...handlers, onNeedParts }), [handlers, onNeedParts])
  const names = useSessionNames(view)
  const waiting = useMemo(() => new Set(view.actions.map((action) => action.toolCallId)), [view.actions])

  if (session.feed.connection === 'gone') {
    return (
      <div className="flex flex-1 flex-col items-center justify-center gap-3 p-6">
        <p className="text-lg text-ink-soft">{t('connection.gone')}</p>
        <Button look="outline" onClick={() => workbench.openSession(null)}>
          {t('connection.gone_action')}
        </Button>
      </div>
    )
  }
  const problem = session.feed.problem
  if (problem !== null && isUnreadable(problem.code) && view.shell === null) {
    return (
      <UnreadableSession
        refusal={problem}
        onBack={() => workbench.openSession(null)}
        onRetry={() => workbench.reconnect()}
      />
    )
  }
  return (
    <NamesProvider value={names}>
      <ArtifactsProvider value={props.artifacts}>
        <ConnectionBanner
          connection={session.feed.connection}
          problem={problem === null || problem.isUnanswered ? null : problem.message}
          onRetry={() => workbench.reconnect()}
        />
        {props.instead === null ? (
          <>
            {props.head}
            <Conversation
              key={view.agent?.threadId ?? 'lead'}
              parentName={findParentName(view)}
              items={view.items}
              handlers={allHandlers}
              waiting={waiting}
              failedParts={failed}
              loadingOlder={session.loadingOlder}
              reachedStart={session.reachedStart}
              mayHaveOlder={view.allTurns.length >= SNAPSHOT_TURNS}
              onLoadOlder={loadOlder}
            />
          </>
        ) : (
          props.instead(onNeedParts)
        )}
        <Dock
          session={session}
          status={view.threadStatus}
          threads={view.threads}
          actions={view.actions}
          queue={view.queue}
          busy={view.running !== null}
          archived={view.shell?.archived ?? false}
          source={view.shell?.source ?? null}
          hasUnknownFacts={view.shell?.hasUnknownFacts ?? false}
          inputRef={inputRef}
          chosen={chosen}
          team={view.team}
          toAgent={props.toAgent}
          meter={<BudgetMeter context={findThreadContext(view)} onOpen={props.onShowContext} />}
        />
      </ArtifactsProvider>
    </NamesProvider>
  )
}

/** The settings of the person's next turn. It goes to the lead, whichever transcript is open. */
function useNextTurnOfLead(session: Session, { rows, team, allTurns }: SessionViewProps['view']): NextTurn {
  const threadId = findLeadThread(rows, team)
  const turns = useMemo(
    () => (team === null ? allTurns : allTurns.filter((turn) => turn.threadId === threadId)),
    [team, allTurns, threadId],
  )
  return useNextTurn(session, turns)
}

/** The name of the agent that gives the open agent its work. */
function findParentName({ team, agent }: SessionViewProps['view']): string {
  return team === null || agent === null ? '' : findAgentName(team.agents, agent.parentAgentId)
}

function useHandlers(
  session: Session,
  view: ReturnType<typeof useSessionRows>,
  { settings: { mode, permissionMode }, chosen }: NextTurn,
  onInspectTurn: (turnId: string) => void,
): Omit<ConversationHandlers, 'onNeedParts'> {
  const { workbench, drafts } = useServices()
  const { toggleTurn } = view
  return useMemo(
    () => ({
      onToggleTurn: toggleTurn,
      onInspectTurn,
      onReuse: (text) => drafts.restore(session.id, text),
      onSendAsTurn: (text) => void workbench.send({ text, sendMode: 'start', mode, permissionMode, chosen }),
      onSendAgain: (entry) => void workbench.resend(entry),
      onDiscard: (entry) => workbench.outbox.drop(entry.id),
    }),
    [session, workbench, drafts, mode, permissionMode, chosen, toggleTurn, onInspectTurn],
  )
}

/** Reads the parts of older turns when they come into view. A failed read waits for a retry. */
function useParts(session: Session) {
  const [failed, setFailed] = useState<ReadonlySet<string>>(new Set())
  const onNeedParts = useCallback(
    (turnId: string) => {
      setFailed((before) => removeMember(before, turnId))
      session.loadParts(turnId).catch(() => setFailed((before) => new Set([...before, turnId])))
    },
    [session],
  )
  return { failed, onNeedParts }
}

function removeMember(set: ReadonlySet<string>, member: string): ReadonlySet<string> {
  return set.has(member) ? new Set([...set].filter((other) => other !== member)) : set
}
