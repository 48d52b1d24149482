import { useId, useState } from 'react'
import type { AgentRow } from '@/system/rows/model'
import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { FormDialog } from '../shared/form-dialog'
import { useReadOnly, useT } from '../shared/surface'
import type { AgentOffer, TeamHandlers } from '../shared/team-handlers'

interface AddAgentProps {
  readonly agents: readonly AgentRow[]
  readonly onAdd: (name: string) => Promise<Refusal | null>
}

/** Adds an agent to the session: one from the list, or any by name. */
export function AddAgent({
  onOffers,
  ...props
}: AddAgentProps & { readonly onOffers: () => Promise<readonly AgentOffer[]> }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const [offers, setOffers] = useState<readonly AgentOffer[]>([])
  const ask = () => {
    setOpen(true)
    void onOffers().then(setOffers)
  }
  if (useReadOnly()) return null
  return (
    <>
      <Button icon="plus" className="mt-1 -ml-2" onClick={ask}>
        {t('team.add_agent')}
      </Button>
      {open && <AddDialog {...props} offers={offers} onDone={() => setOpen(false)} />}
    </>
  )
}

export function AddDialog({
  agents,
  offers,
  onAdd,
  onDone,
}: AddAgentProps & { readonly offers: readonly AgentOffer[]; readonly onDone: () => void }) {
  const t = useT()
  const [name, setName] = useState('')
  const [sending, setSending] = useState(false)
  const [empty, setEmpty] = useState(false)
  const [subagent, setSubagent] = useState('')
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [list, problem] = [useId(), useId()]
  const memberNames = new Set(agents.map((agent) => agent.name))
  const offered = offers.filter((offer) => !memberNames.has(offer.name))
  const add = async (chosen: string) => {
    if (sending) return
    setEmpty(chosen === '')
    if (chosen === '') return
    setSending(true)
    const refusal = await onAdd(chosen)
    setSending(false)
    // The server's message addresses an agent, so the page shows its own.
    const isSubagent = refusal?.code === 'delegate_target_denied'
    setSubagent(isSubagent ? chosen : '')
    setRefusal(isSubagent ? null : refusal)
    if (refusal === null) onDone()
  }
  return (
    <FormDialog
      title={t('team.add_agent')}
      action={t('team.add')}
      disabled={sending}
      refusal={refusal}
      onSend={() => void add(name.trim())}
      onDone={onDone}
    >
      <p className="text-ink-soft">{t('team.add_body')}</p>
      <input
        aria-label={t('team.add_name')}
        aria-invalid={empty}
        aria-describedby={empty ? problem : undefined}
        placeholder={t('team.add_name')}
        list={list}
        value={name}
        maxLength={64}
        onChange={(event) => setName(event.target.value)}
        className="h-8 w-full rounded-md border border-line-strong bg-paper px-2"
      />
      <datalist id={list}>
        {offered.map((offer) => (
          <option key={offer.name} value={offer.name} />
        ))}
      </datalist>
      {offered.length > 0 && (
        <ul className="max-h-56 overflow-y-auto">
          {offered.map((offer) => (
            <li key={offer.name}>
              <button
                type="button"
                disabled={sending}
                onClick={() => void add(offer.name)}
                className="block w-full rounded-md px-2 py-1 text-left hover:bg-hover"
              >
                <span className="font-medium">{offer.name}</span>
                {offer.description !== '' && <span className="block text-ink-soft">{offer.description}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
      {empty && (
        <p id={problem} role="alert" className="text-bad">
          {t('team.add_empty')}
        </p>
      )}
      {subagent !== '' && (
        <p role="alert" className="wrap-any text-bad">
          {t('team.add_subagent', { agent: subagent })}
        </p>
      )}
    </FormDialog>
  )
}

/** The ways to a team, for a session with one agent. */
export function SingleAgent({ handlers }: { readonly handlers: TeamHandlers }) {
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
