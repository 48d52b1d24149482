import { type ReactNode, useState } from 'react'
import type { AgentRow } from '@/system/rows/model'
import { listItemKeys } from '@/system/selectors/job'
import { hasEnded, sortRoster, type Team } from '@/system/selectors/team'
import { Disclosure } from '@/ui/disclosure'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { AddAgent } from './add-agent'
import { AgentCard, type AgentDialog } from './agent-card'
import { CloseDialog, EndDialog, InputDialog, StopDialog } from './agent-dialogs'
import { MergeDialog } from './merge-dialog'

/** Maximum number of ended agents that are not folded. */
const MAX_ENDED = 4

type Subject = { readonly dialog: AgentDialog; readonly agentId: string }

export interface RosterProps {
  readonly team: Team
  /** The agent with the open transcript. */
  readonly openAgentId: string
  readonly handlers: TeamHandlers
}

/** A card for each agent: the lead first, then agents that need attention. */
export function Roster({ team, openAgentId, handlers }: RosterProps) {
  const t = useT()
  const [dialog, setDialog] = useState<Subject | null>(null)
  const ordered = sortRoster(team)
  const items = listItemKeys(team.tasks)
  const failed = ordered.filter((agent) => agent.state === 'failed' && items.has(agent.taskId))
  const finished = ordered.filter((agent) => hasEnded(agent.state) && agent.agentId !== team.row.lead)
  const folded = finished.length > MAX_ENDED ? finished : []
  const present = ordered.filter((agent) => !folded.includes(agent) && !failed.includes(agent))
  const subject = team.agents.find((agent) => agent.agentId === dialog?.agentId)
  const renderCard = (agent: AgentRow) => (
    <AgentCard
      key={agent.key}
      agent={agent}
      team={team}
      isOpen={agent.agentId === openAgentId}
      handlers={handlers}
      onAsk={(dialog) => setDialog({ dialog, agentId: agent.agentId })}
    />
  )
  const closeDialog = () => setDialog(null)
  return (
    <>
      {present.length === 0 ? (
        <p className="text-ink-faint">{t('team.roster_empty')}</p>
      ) : (
        <ul aria-label={t('team.roster')} className="-mx-2 space-y-px">
          {present.map(renderCard)}
        </ul>
      )}
      <Folded title={t.count('team.failed_items', failed.length)}>{failed.map(renderCard)}</Folded>
      <Folded title={t.count('team.finished', folded.length)}>{folded.map(renderCard)}</Folded>
      <AddAgent agents={team.agents} onOffers={handlers.onOffers} onAdd={handlers.onAddAgent} />
      {dialog?.dialog === 'end' && subject !== undefined && (
        <EndDialog
          agent={subject}
          onDo={() => handlers.onCancelTask(subject.background?.taskId ?? '')}
          onDone={closeDialog}
        />
      )}
      {dialog?.dialog === 'merge' && subject !== undefined && (
        <MergeDialog agent={subject} onMerge={() => handlers.onMerge(subject)} onDone={closeDialog} />
      )}
      {dialog?.dialog === 'stop' && subject !== undefined && (
        <StopDialog agent={subject} onDo={() => handlers.onStop(subject)} onDone={closeDialog} />
      )}
      {dialog?.dialog === 'close' && subject !== undefined && (
        <CloseDialog agent={subject} onDo={() => handlers.onClose(subject)} onDone={closeDialog} />
      )}
      {dialog?.dialog === 'input' && subject !== undefined && (
        <InputDialog
          agent={subject}
          onSend={(text) => handlers.onInput(subject, text)}
          onDone={closeDialog}
        />
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
