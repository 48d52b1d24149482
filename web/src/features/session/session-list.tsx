import { type KeyboardEvent, useMemo, useState } from 'react'
import type { SessionCard } from '@/system/rows/model'
import { IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { useNow } from '@/ui/use-now'
import { useT } from '../shared/surface'
import { SessionEntry, type SessionHandlers } from './session-entry'

export interface SessionListProps {
  readonly sessions: readonly SessionCard[]
  readonly activeId: string | null
  readonly isUnread: (session: SessionCard) => boolean
  readonly handlers: SessionHandlers
  readonly onNew: () => void
}

/** The sessions of a folder: pinned first, then those that need a person, then by newest turn. */
export function SessionList(props: SessionListProps) {
  const t = useT()
  const now = useNow(30_000)
  const [filter, setFilter] = useState('')
  const [archived, setArchived] = useState(false)
  const matches = useMemo(() => filterSessions(props.sessions, filter), [props.sessions, filter])
  const groups = groupSessions(matches)
  const renderEntry = (session: SessionCard) => (
    <SessionEntry
      key={session.key}
      session={session}
      active={session.sessionId === props.activeId}
      unread={props.isUnread(session)}
      now={now}
      handlers={props.handlers}
    />
  )
  return (
    <nav aria-label={t('sessions.title')} className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-1 px-2 pb-2">
        <label className="relative flex h-7 min-w-0 flex-1 items-center">
          <Icon name="search" size={14} className="pointer-events-none absolute left-2 text-ink-faint" />
          <input
            type="search"
            aria-label={t('sessions.filter')}
            placeholder={t('sessions.filter')}
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            className="h-7 w-full rounded-md bg-hover pr-2 pl-7"
          />
        </label>
        <IconButton icon="plus" label={t('sessions.new')} onClick={props.onNew} />
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between its buttons */}
      <div onKeyDown={moveFocus} className="min-h-0 flex-1 space-y-3 overflow-y-auto px-2 pb-3">
        {props.sessions.length === 0 && <p className="px-2 text-ink-faint">{t('sessions.empty')}</p>}
        {props.sessions.length > 0 && matches.length === 0 && (
          <p className="px-2 text-ink-faint">{t('sessions.no_match')}</p>
        )}
        {groups.pinned.length > 0 && (
          <Group title={t('sessions.pinned')}>{groups.pinned.map(renderEntry)}</Group>
        )}
        {groups.recent.length > 0 && (
          <Group title={t('sessions.recent')}>{groups.recent.map(renderEntry)}</Group>
        )}
        {groups.archived.length > 0 && (
          <div>
            <button
              type="button"
              aria-expanded={archived}
              onClick={() => setArchived(!archived)}
              className="flex h-6 items-center gap-1 rounded px-2 text-sm text-ink-faint hover:text-ink"
            >
              <Icon name={archived ? 'chevronDown' : 'chevronRight'} size={12} />
              {t('sessions.archived')}
            </button>
            {archived && <ul>{groups.archived.map(renderEntry)}</ul>}
          </div>
        )}
      </div>
    </nav>
  )
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <h2 className="px-2 pb-0.5 text-sm text-ink-faint">{title}</h2>
      <ul>{children}</ul>
    </div>
  )
}

function filterSessions(sessions: readonly SessionCard[], filter: string): readonly SessionCard[] {
  const query = filter.trim().toLocaleLowerCase()
  if (query === '') return sessions
  return sessions.filter((session) =>
    `${session.title} ${session.lastText}`.toLocaleLowerCase().includes(query),
  )
}

function groupSessions(sessions: readonly SessionCard[]) {
  const current = sessions.filter((session) => !session.archived)
  const order = (a: SessionCard, b: SessionCard) => rankUrgency(b) - rankUrgency(a) || b.order - a.order
  return {
    pinned: current.filter((session) => session.pinned).sort(order),
    recent: current.filter((session) => !session.pinned).sort(order),
    archived: sessions.filter((session) => session.archived).sort((a, b) => b.order - a.order),
  }
}

/**
 * Sort order by urgency. Sessions that need a person come first. A failure is marked but not moved.
 */
function rankUrgency(session: SessionCard): number {
  return session.attention === 'needs_input' ? 1 : 0
}

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
}

/** Move the focus between sessions with the arrow keys, Home and End. */
function moveFocus(event: KeyboardEvent<HTMLElement>) {
  const step = STEPS[event.key]
  const entries = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-session]')]
  const at = entries.indexOf(event.target as HTMLElement)
  if (step === undefined || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  entries[step(at, entries.length - 1)]?.focus()
}
