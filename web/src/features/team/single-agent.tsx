import { Button } from '@/ui/button'
import { AddAgent } from '../agent/add-agent'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'

/** Of a session in which one agent works: nothing of a team but the ways to one. */
export function Alone({ handlers }: { readonly handlers: TeamHandlers }) {
  const t = useT()
  return (
    <>
      <p className="text-ink-soft">{t('team.alone')}</p>
      <AddAgent agents={[]} onOffers={handlers.onOffers} onAdd={handlers.onAddAgent} />
      <Button icon="plus" className="-ml-2" onClick={handlers.onAskJob}>
        {t('team.new_job')}
      </Button>
    </>
  )
}
