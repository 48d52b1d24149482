import { useRef, useState } from 'react'
import { formatAgo } from '@/system/format/numbers'
import type { Translate } from '@/system/i18n/translate'
import type { SessionCard } from '@/system/rows/model'
import { IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Dot } from '@/ui/marks'
import { Menu } from '@/ui/menu/menu'
import { useT } from '../shared/surface'
import { SESSION_TONES } from '../shared/tones'

export interface SessionHandlers {
  readonly onOpen: (sessionId: string) => void
  readonly onRename: (sessionId: string, title: string) => void
  readonly onPin: (sessionId: string, pinned: boolean) => void
  readonly onArchive: (sessionId: string, archived: boolean) => void
  readonly onExport: (sessionId: string) => void
  readonly onDelete: (session: SessionCard) => void
}

export interface SessionEntryProps {
  readonly session: SessionCard
  readonly active: boolean
  readonly unread: boolean
  readonly now: number
  readonly handlers: SessionHandlers
}

/** A session: state, pending work and unread mark. */
export function SessionEntry(props: SessionEntryProps) {
  const t = useT()
  const { session, active, handlers } = props
  const [renaming, setRenaming] = useState(false)
  const title = session.title || t('sessions.untitled')
  if (renaming) {
    return (
      <li>
        <Rename
          title={session.title}
          onDone={(next) => {
            setRenaming(false)
            if (next !== null && next !== session.title) handlers.onRename(session.sessionId, next)
          }}
        />
      </li>
    )
  }
  return (
    <li
      className={`group relative rounded-md [contain-intrinsic-size:auto_30px] [content-visibility:auto] ${active ? 'bg-selected' : 'hover:bg-hover'}`}
    >
      <button
        type="button"
        data-session={session.sessionId}
        aria-current={active ? 'page' : undefined}
        onClick={() => handlers.onOpen(session.sessionId)}
        className="flex h-[30px] w-full items-center gap-2 rounded-md px-2 text-left"
      >
        <Dot tone={SESSION_TONES[session.state]} active={session.state === 'running'} />
        <span className={`min-w-0 flex-1 truncate ${props.unread ? 'font-semibold' : ''}`}>{title}</span>
        <SessionStateText session={session} unread={props.unread} now={props.now} />
      </button>
      {session.problem !== '' && (
        <p className="px-2 pb-1 text-xs break-words text-bad" title={session.problem}>
          {describeProblem(t, session)} {t('session.damaged_advice')}
        </p>
      )}
      <span className="absolute top-px right-0.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 has-data-[state=open]:opacity-100">
        <Menu
          trigger={<IconButton aria-haspopup="menu" icon="more" label={t('sessions.menu', { title })} />}
          entries={[
            { id: 'rename', label: t('sessions.rename'), icon: 'edit', onSelect: () => setRenaming(true) },
            {
              id: 'pin',
              label: t(session.pinned ? 'sessions.unpin' : 'sessions.pin'),
              icon: 'pin',
              onSelect: () => handlers.onPin(session.sessionId, !session.pinned),
            },
            {
              id: 'archive',
              label: t(session.archived ? 'sessions.unarchive' : 'sessions.archive'),
              icon: 'archive',
              onSelect: () => handlers.onArchive(session.sessionId, !session.archived),
            },
            {
              id: 'export',
              label: t('evidence.export'),
              icon: 'download',
              onSelect: () => handlers.onExport(session.sessionId),
            },
            {
              id: 'delete',
              label: t('sessions.delete'),
              icon: 'trash',
              danger: true,
              onSelect: () => handlers.onDelete(session),
            },
          ]}
        />
      </span>
    </li>
  )
}

/** The most important state of a session, as text. */
function SessionStateText({ session, unread, now }: { session: SessionCard; unread: boolean; now: number }) {
  const t = useT()
  const quiet = session.state === 'idle' || session.state === 'interrupted'
  const pending = session.pendingActions > 0 ? t.count('sessions.pending', session.pendingActions) : undefined
  const queued = session.queued > 0 ? t.count('sessions.queued', session.queued) : undefined
  const tone =
    session.attention === 'needs_input'
      ? 'text-warn'
      : session.attention === 'failed'
        ? 'text-bad'
        : 'text-ink-faint'
  return (
    <span
      className={`flex items-center gap-1.5 text-xs group-hover:invisible group-has-data-[state=open]:invisible ${tone}`}
      title={[pending, queued].filter(Boolean).join('\n')}
    >
      {session.pinned && <Icon name="pin" size={11} />}
      {quiet ? (
        <>
          <span className="sr-only">{t(`session.state.${session.state}`)}</span>
          {session.updatedAt > 0 && (
            <span className="tabular">{formatAgo(session.updatedAt / 1000, now, t.locale)}</span>
          )}
        </>
      ) : (
        <span className="font-medium">{t(`session.state.${session.state}`)}</span>
      )}
      {unread && (
        <span role="img" aria-label={t('sessions.unread')} className="size-1.5 rounded-full bg-accent" />
      )}
    </span>
  )
}

function Rename(props: { readonly title: string; readonly onDone: (title: string | null) => void }) {
  const t = useT()
  const [text, setText] = useState(props.title)
  const over = useRef(false)
  const finish = (title: string | null) => {
    if (over.current) return
    over.current = true
    props.onDone(title)
  }
  const saveTitle = () => finish(text.trim() === '' ? null : text.trim())
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: the person chose to rename
      autoFocus
      aria-label={t('sessions.rename_label')}
      value={text}
      maxLength={200}
      onChange={(event) => setText(event.target.value)}
      onFocus={(event) => event.target.select()}
      onBlur={saveTitle}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return
        if (event.key === 'Enter') saveTitle()
        if (event.key === 'Escape') finish(null)
      }}
      className="h-[30px] w-full rounded-md border border-accent bg-surface px-2"
    />
  )
}

/** The runtime's English text, or the text of the code in another language. */
function describeProblem(t: Translate, { problem, problemCode }: SessionCard): string {
  const worded = t.locale.startsWith('en') ? null : t.find(`code.${problemCode}`)
  return worded === null ? problem : `${worded}。`
}
