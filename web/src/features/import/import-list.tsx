import { type ReactNode, useState } from 'react'
import { buildPastSessionKey } from '@/system/format/names'
import { formatDay } from '@/system/format/numbers'
import type { PastSessionEntry, PastSessionImported, PastSessionList } from '@/system/generated/contracts'
import type { ImportProgress } from '@/system/stores/import-store'
import { Button, IconButton } from '@/ui/button'
import { Disclosure } from '@/ui/disclosure'
import { useNow } from '@/ui/use-now'
import { RefusalText } from '../shared/refusal'
import { useT } from '../shared/surface'

export interface ImportListProps {
  readonly list: PastSessionList
  readonly imports: Readonly<Record<string, ImportProgress>>
  /** Import these sessions. */
  readonly onImport: (sessions: readonly PastSessionEntry[]) => void
  /** Clear the import queue. */
  readonly onStop: () => void
  readonly onOpen: (sessionId: string) => void
}

const MAX_SHOWN = 5

/** Past sessions of other products in the folder, with import and open buttons. */
export default function ImportList(props: ImportListProps) {
  const t = useT()
  const [all, setAll] = useState(false)
  const { sessions } = props.list
  const visibleSessions = all ? sessions : sessions.slice(0, MAX_SHOWN)
  const remaining = sessions.filter((session) =>
    canImport(session, props.imports[buildPastSessionKey(session)]),
  )
  return (
    <section aria-label={t('first.past_others')}>
      {sessions.length > 0 && (
        <div className="flex min-h-7 items-center gap-2">
          <h3 className="min-w-0 flex-1 truncate text-sm font-medium text-ink-soft">
            {t('first.past_others')}
          </h3>
          <ImportAll {...props} remaining={remaining} />
        </div>
      )}
      {remaining.length > 0 && <p className="pb-1 text-sm text-ink-faint">{t('first.past_help')}</p>}
      <ul className="space-y-1.5">
        {visibleSessions.map((session) => (
          <Row
            key={buildPastSessionKey(session)}
            {...props}
            session={session}
            became={props.imports[buildPastSessionKey(session)]}
          />
        ))}
      </ul>
      {sessions.length > MAX_SHOWN && (
        <Button className="-ml-2.5" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t('first.past_fewer') : t.count('first.past_all', sessions.length)}
        </Button>
      )}
      <NotListed list={props.list} />
    </section>
  )
}

/** Imports all remaining sessions, stops the import, or shows that all are imported. */
function ImportAll(props: ImportListProps & { readonly remaining: readonly PastSessionEntry[] }) {
  const t = useT()
  const { remaining } = props
  const states = Object.values(props.imports).map((progress) => progress.state)
  const waiting = states.filter((state) => state === 'waiting').length
  if (waiting === 0 && remaining.length < 2 && states.length < 2) return null
  const [label, act] =
    waiting > 0
      ? [t('first.import_stop'), props.onStop]
      : remaining.length > 0
        ? [t.count('first.import_all', remaining.length), () => props.onImport(remaining)]
        : [t(states.includes('running') ? 'first.importing' : 'first.imported_all'), undefined]
  return (
    <>
      {waiting > 0 && (
        <span className="tabular text-sm text-ink-faint">{t.count('first.import_left', waiting)}</span>
      )}
      <Button
        className="-mr-2.5 aria-disabled:opacity-45"
        aria-disabled={act === undefined}
        aria-label={waiting > 0 ? t.count('first.import_stop_of', waiting) : undefined}
        onClick={act}
      >
        {label}
      </Button>
    </>
  )
}

function canImport(session: PastSessionEntry, progress: ImportProgress | undefined): boolean {
  const under = progress?.state === 'waiting' || progress?.state === 'running'
  return session.imported !== true && typeof session.importing !== 'number' && !under
}

interface RowProps extends ImportListProps {
  readonly session: PastSessionEntry
  readonly became: ImportProgress | undefined
}

function Row({ session, became, onImport, onOpen }: RowProps) {
  const t = useT()
  const now = useNow(30_000)
  const { title, product, sessionId = '' } = session
  const runs = became?.state === 'running' || typeof session.importing === 'number'
  const isImported = session.imported === true && !runs
  const turns = session.importing ?? 0
  return (
    <li className="flex items-start gap-1">
      <div className="min-w-0 flex-1">
        <p className="truncate" title={title}>
          {title}
        </p>
        <p className="tabular flex flex-wrap gap-x-1.5 text-sm text-ink-faint">
          <span>{product}</span>
          <span>{formatDay(session.changed / 1000, now, t.locale)}</span>
          {isImported && became?.state !== 'done' && <span>{t('first.imported')}</span>}
          {became?.state === 'waiting' && <span>{t('first.import_waiting')}</span>}
          {runs && turns > 0 && (
            <span className="text-accent">{t.count('first.importing_turns', turns)}</span>
          )}
        </p>
        <ImportOutcome progress={became} />
      </div>
      {isImported && (
        <IconButton
          icon="download"
          label={t('first.import_again_of', { title })}
          onClick={() => onImport([session])}
        />
      )}
      {became?.state !== 'waiting' && (
        // One button for all states, so that it keeps the focus.
        <Button
          look="outline"
          aria-disabled={runs}
          className="aria-disabled:opacity-45"
          aria-label={t(isImported ? 'first.open_of' : runs ? 'first.importing_of' : 'first.import_of', {
            title,
            product,
          })}
          onClick={() => {
            if (isImported) onOpen(sessionId)
            else if (!runs) onImport([session])
          }}
        >
          {t(isImported ? 'first.open' : runs ? 'first.importing' : 'first.import')}
        </Button>
      )}
    </li>
  )
}

/** The outcome of an import, announced to screen readers. */
function ImportOutcome({ progress }: { progress: ImportProgress | undefined }) {
  const t = useT()
  return (
    <div role="status" className="text-sm text-ink-soft">
      {progress?.state === 'done' && <Added answer={progress.answer} />}
      {progress?.state === 'failed' && (
        <div className="text-bad">
          <RefusalText refusal={progress.refusal} />
        </div>
      )}
      {progress?.state === 'done' && progress.answer.unfinished === true && (
        <p>{t('first.imported_later')}</p>
      )}
    </div>
  )
}

function Added({ answer }: { answer: PastSessionImported }): ReactNode {
  const t = useT()
  if (answer.added > 0) return <p>{t.count('first.imported_turns', answer.added)}</p>
  return answer.known > 0 && <p>{t('first.imported_nothing')}</p>
}

/** Transcripts that are not listed. */
function NotListed({ list }: { list: PastSessionList }) {
  const t = useT()
  const { unreadable = [], older = 0 } = list
  return (
    <>
      {older > 0 && <p className="pt-1 text-sm text-ink-faint">{t.count('first.past_older', older)}</p>}
      {unreadable.length > 0 && (
        <Disclosure title={t.count('first.past_unreadable', unreadable.length)}>
          <ul className="space-y-1 text-sm text-ink-soft">
            {unreadable.map((transcript) => (
              <li key={`${transcript.product} ${transcript.name}`} className="wrap-any">
                <span className="text-ink">{transcript.name}</span> {transcript.product}. {transcript.problem}
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </>
  )
}
