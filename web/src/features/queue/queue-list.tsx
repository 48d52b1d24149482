import { useState } from 'react'
import type { QueueRow } from '@/system/rows/model'
import type { SentInput } from '@/system/stores/outbox'
import { Button, IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { useFullText, useT } from '../shared/surface'

export interface QueueHandlers {
  /** Returns whether the edit was accepted. The text stays open if it was not. */
  readonly onEdit: (turnId: string, text: string) => Promise<boolean>
  readonly onPromote: (turnId: string) => void
  readonly onRemove: (turnId: string) => void
}

/** Queued turns with their positions. */
export function QueueList(props: {
  readonly queue: readonly QueueRow[]
  readonly sent: readonly SentInput[]
  readonly handlers: QueueHandlers
}) {
  const t = useT()
  const total = props.queue.length + props.sent.length
  if (total === 0) return null
  return (
    <section
      aria-label={t.count('queue.title', total)}
      className="overflow-hidden rounded-lg border border-line"
    >
      <h2 className="flex items-center gap-2 bg-sunken px-3 py-1 text-sm font-medium text-ink-soft">
        <Icon name="queue" size={14} />
        {t.count('queue.title', total)}
        <span className="truncate font-normal text-ink-faint">{t('queue.hint')}</span>
      </h2>
      <ol className="max-h-48 divide-y divide-line overflow-y-auto">
        {props.queue.map((row, index) => (
          <QueueEntry key={row.key} row={row} position={index + 1} handlers={props.handlers} />
        ))}
        {props.sent.map((entry) => (
          <li key={entry.id} className="flex h-8 items-center gap-2 px-3 text-ink-faint">
            <span className="min-w-0 flex-1 truncate">{entry.text}</span>
            <span className="text-sm">{t('turn.sending')}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function QueueEntry(props: {
  readonly row: QueueRow
  readonly position: number
  readonly handlers: QueueHandlers
}) {
  const t = useT()
  const { row, position, handlers } = props
  const full = useFullText(row.input)
  const [edited, setEdited] = useState<string | null>(null)
  if (edited !== null) {
    const save = async () => {
      if (await handlers.onEdit(row.turnId, edited)) setEdited(null)
    }
    return (
      <li className="space-y-1.5 px-3 py-2">
        <textarea
          // biome-ignore lint/a11y/noAutofocus: the person chose to edit
          autoFocus
          aria-label={t('queue.edit_label')}
          value={edited}
          rows={Math.min(6, edited.split('\n').length + 1)}
          onChange={(event) => setEdited(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setEdited(null)
          }}
          className="w-full resize-none rounded-md border border-line-strong bg-surface px-2 py-1"
        />
        <div className="flex gap-2">
          <Button look="solid" disabled={edited.trim() === ''} onClick={() => void save()}>
            {t('app.save')}
          </Button>
          <Button onClick={() => setEdited(null)}>{t('app.cancel')}</Button>
        </div>
      </li>
    )
  }
  return (
    <li className="flex h-8 items-center gap-2 pr-1 pl-3">
      <span
        role="img"
        className="tabular w-4 text-ink-faint"
        aria-label={t('queue.position', { position: position })}
      >
        {position}
      </span>
      <span className="min-w-0 flex-1 truncate">{row.input.text}</span>
      {row.mode === 'auto' && <Badge tone="accent">{t('turn.mode.auto')}</Badge>}
      <IconButton
        icon="edit"
        label={t('queue.edit')}
        disabled={full.state === 'loading'}
        onClick={() => {
          if (full.state === 'whole') setEdited(full.text)
          else full.load()
        }}
      />
      <IconButton
        icon="arrowUp"
        label={t('queue.promote')}
        disabled={position === 1}
        onClick={() => handlers.onPromote(row.turnId)}
      />
      <IconButton icon="close" label={t('queue.remove')} onClick={() => handlers.onRemove(row.turnId)} />
    </li>
  )
}
