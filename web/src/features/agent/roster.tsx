import { type ReactNode, useState } from 'react'
import type { AgentRow } from '@/system/rows/model'
import { itemKeys } from '@/system/selectors/job'
import { hasEnded, sortRoster, type Team } from '@/system/selectors/team'
import { Disclosure } from '@/ui/disclosure'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { AddAgent } from './add-agent'
import { AgentCard, type Asked } from './agent-card'
import { CloseDialog, EndDialog, InputDialog, StopDialog } from './agent-dialogs'
import { MergeDialog } from './merge-dialog'

/** So many agents that are over stand among the others; more are folded away. */
const OVER_SHOWN = 4

type Subject = { readonly what: Asked; readonly agentId: string }

export interface RosterProps {
  readonly team: Team
  /** The agent whose transcript is on the screen. */
  readonly shown: string
  readonly handlers: TeamHandlers
}

/** Who takes part: a card for each agent, the lead first, then whoever needs a person. */
export function Roster({ team, shown, handlers }: RosterProps) {
  const t = useT()
  const [asked, setAsked] = useState<Subject | null>(null)
  const ordered = sortRoster(team)
  const items = itemKeys(team.tasks)
  const failed = ordered.filter((agent) => agent.state === 'failed' && items.has(agent.taskId))
  const over = ordered.filter((agent) => hasEnded(agent.state) && agent.agentId !== team.row.lead)
  const folded = over.length > OVER_SHOWN ? over : []
  const present = ordered.filter((agent) => !folded.includes(agent) && !failed.includes(agent))
  const subject = team.agents.find((agent) => agent.agentId === asked?.agentId)
  const card = (agent: AgentRow) => (
    <AgentCard
      key={agent.key}
      agent={agent}
      team={team}
      shown={agent.agentId === shown}
      handlers={handlers}
      onAsk={(what) => setAsked({ what, agentId: agent.agentId })}
    />
  )
  const done = () => setAsked(null)
  return (
    <>
      {present.length === 0 ? (
        <p className="text-ink-faint">{t('team.roster_empty')}</p>
      ) : (
        <ul aria-label={t('team.roster')} className="-mx-2 space-y-px">
          {present.map(card)}
        </ul>
      )}
      <Folded title={t.count('team.failed_items', failed.length)}>{failed.map(card)}</Folded>
      <Folded title={t.count('team.over', folded.length)}>{folded.map(card)}</Folded>
      <AddAgent agents={team.agents} onOffers={handlers.onOffers} onAdd={handlers.onAddAgent} />
      {asked?.what === 'end' && subject !== undefined && (
        <EndDialog
          agent={subject}
          onDo={() => handlers.onCancelTask(subject.background?.taskId ?? '')}
          onDone={done}
        />
      )}
      {asked?.what === 'merge' && subject !== undefined && (
        <MergeDialog agent={subject} onMerge={() => handlers.onMerge(subject)} onDone={done} />
      )}
      {asked?.what === 'stop' && subject !== undefined && (
        <StopDialog agent={subject} onDo={() => handlers.onStop(subject)} onDone={done} />
      )}
      {asked?.what === 'close' && subject !== undefined && (
        <CloseDialog agent={subject} onDo={() => handlers.onClose(subject)} onDone={done} />
      )}
      {asked?.what === 'input' && subject !== undefined && (
        <InputDialog agent={subject} onSend={(text) => handlers.onInput(subject, text)} onDone={done} />
      )}
    </>
  )
}

function Folded({ title, children }: { readonly title: string; readonly children: readonly ReactNode[] }) {
  if (children.length === 0) return null
  return (
    <Disclosure title={title}>
      <ul aria-label={title} className="-mr-2 -ml-6 space-y-px">
        {children}
      </ul>
    </Disclosure>
  )
}
