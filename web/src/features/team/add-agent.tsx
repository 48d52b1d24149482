import { useId, useState } from 'react'
import type { AgentRow } from '@/system/rows/model'
import type { Refused } from '@/system/workbench/notices'
import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { RefusedHere } from '../connection/notices'
import { useT } from '../shared/surface'

interface AddAgentProps {
  readonly agents: readonly AgentRow[]
  readonly definitions: readonly string[]
  readonly onAdd: (name: string) => Promise<Refused | null>
}

/** Takes an agent of the folder into the session: one that is known to be there, or any by its name. */
export function AddAgent(props: AddAgentProps) {
  const t = useT()
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button icon="plus" className="mt-1 -ml-2" onClick={() => setOpen(true)}>
        {t('team.add_agent')}
      </Button>
      {open && <AddDialog {...props} onDone={() => setOpen(false)} />}
    </>
  )
}

export function AddDialog({
  agents,
  definitions,
  onAdd,
  onDone,
}: AddAgentProps & { readonly onDone: () => void }) {
  const t = useT()
  const [name, setName] = useState('')
  const [sending, setSending] = useState(false)
  const [empty, setEmpty] = useState(false)
  const [refused, setRefused] = useState<Refused | null>(null)
  const [list, problem] = [useId(), useId()]
  const here = new Set(agents.map((agent) => agent.name))
  const offered = definitions.filter((one) => !here.has(one))
  const add = async (chosen: string) => {
    if (sending) return
    setEmpty(chosen === '')
    if (chosen === '') return
    setSending(true)
    const why = await onAdd(chosen)
    setSending(false)
    setRefused(why)
    if (why === null) onDone()
  }
  return (
    <Dialog label={t('team.add_agent')} onClose={onDone}>
      <form
        className="space-y-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          void add(name.trim())
        }}
      >
        <h2 className="text-lg font-semibold">{t('team.add_agent')}</h2>
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
          {offered.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        {empty && (
          <p id={problem} role="alert" className="text-bad">
            {t('team.add_empty')}
          </p>
        )}
        <RefusedHere refused={refused} />
        <div className="flex justify-end gap-2">
          <Button look="outline" onClick={onDone}>
            {t('app.cancel')}
          </Button>
          <Button look="solid" type="submit" disabled={sending}>
            {t('team.add')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
