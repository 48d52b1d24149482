import { useId, useState } from 'react'
import type { ArtifactRow } from '@/system/rows/model'
import type { Refused } from '@/system/workbench/notices'
import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { RadioGroup } from '@/ui/radio-group'
import { RefusedHere } from '../connection/notices'
import { useT } from '../shared/surface'
import { Exports, type ExportsHandlers } from './exports'
import { isThere } from './words'

const WHICH = ['all', 'chosen'] as const

/** Asks for an archive of all artifacts, or of those that are chosen. It is made in the background. */
export function ArchiveDialog(props: {
  readonly artifacts: readonly ArtifactRow[]
  /** No ids stand for all that there are. */
  readonly onMake: (artifactIds: readonly string[]) => Promise<Refused | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const [which, setWhich] = useState<(typeof WHICH)[number]>('all')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [none, setNone] = useState(false)
  const [sending, setSending] = useState(false)
  const [refused, setRefused] = useState<Refused | null>(null)
  const problem = useId()
  const there = props.artifacts.filter(isThere).toReversed()
  const make = async () => {
    const ids = there.map((row) => row.artifactId).filter((id) => chosen.has(id))
    setNone(which === 'chosen' && ids.length === 0)
    if ((which === 'chosen' && ids.length === 0) || sending) return
    setSending(true)
    const why = await props.onMake(which === 'all' ? [] : ids)
    setSending(false)
    setRefused(why)
    if (why === null) props.onDone()
  }
  return (
    <Dialog label={t('artifact.archive_title')} onClose={props.onDone}>
      <form
        className="space-y-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <h2 className="text-lg font-semibold">{t('artifact.archive_title')}</h2>
        <p className="text-ink-soft">{t('artifact.archive_body')}</p>
        <RadioGroup
          label={t('artifact.archive_which')}
          value={which}
          onChange={setWhich}
          choices={WHICH.map((value) => ({ value, label: t(`artifact.archive_which.${value}`) }))}
        />
        {which === 'chosen' && (
          <fieldset aria-describedby={none ? problem : undefined}>
            <legend className="sr-only">{t('artifact.archive_which.chosen')}</legend>
            <div className="max-h-60 overflow-y-auto">
              {there.map((row) => (
                <label key={row.key} className="flex min-h-6 items-start gap-2">
                  <input
                    type="checkbox"
                    className="mt-1"
                    checked={chosen.has(row.artifactId)}
                    onChange={(event) => {
                      setNone(false)
                      setChosen(including(chosen, row.artifactId, event.target.checked))
                    }}
                  />
                  <span className="wrap-any min-w-0">{row.path || row.title}</span>
                </label>
              ))}
            </div>
          </fieldset>
        )}
        {none && (
          <p id={problem} role="alert" className="text-bad">
            {t('artifact.archive_none')}
          </p>
        )}
        <RefusedHere refused={refused} />
        <div className="flex justify-end gap-2">
          <Button look="outline" onClick={props.onDone}>
            {t('app.cancel')}
          </Button>
          <Button look="solid" type="submit" disabled={sending}>
            {t('artifact.archive_make')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** How many archives are shown, the newest first. */
const SHOWN = 4

/** The archives of the session, whichever artifact they were begun from. */
export function Archives(props: ExportsHandlers & { readonly artifacts: readonly ArtifactRow[] }) {
  const t = useT()
  const made = props.artifacts
    .flatMap(({ artifactId, exports }) => exports.map((one) => ({ artifactId, made: one })))
    .filter(({ made: { form } }) => form === 'zip')
    // Their ids sort by time.
    .toSorted((a, b) => (a.made.export < b.made.export ? -1 : 1))
    .slice(-SHOWN)
  return <Exports {...props} label={t('artifact.archives')} exports={made} />
}

function including(set: ReadonlySet<string>, key: string, is: boolean): ReadonlySet<string> {
  return new Set(is ? [...set, key] : [...set].filter((one) => one !== key))
}
