import { type FormEvent, useState } from 'react'
import { stripTerminalCodes } from '@/system/format/ansi'
import { formatCount } from '@/system/format/numbers'
import type { ContextRef, MissingRef } from '@/system/generated/contracts'
import type { ContextRow } from '@/system/rows/model'
import type { Refusal } from '@/system/stores/notice-store'
import { Button, IconButton } from '@/ui/button'
import { Fact, Facts } from '@/ui/facts'
import { Icon } from '@/ui/icon'
import { RefusalAlert } from '../shared/refusal'
import { useReadOnly, useT } from '../shared/surface'
import { MissingList, OmissionList, REF_ICONS, shortenName } from './context-refs'

export interface ContextPanelProps {
  readonly context: ContextRow | null
  /** Whether the thread can be compacted now, because no turn is running. */
  readonly idle: boolean
  readonly onPins: (pinned: readonly string[]) => Promise<Refusal | null>
  readonly onCompact: () => void
}

/** The context of the latest run, its omissions, and the thread's pins. */
export function ContextPanel(props: ContextPanelProps) {
  const t = useT()
  const { context } = props
  const forReading = useReadOnly()
  const refs = context?.refs ?? NO_REFS
  const missing = context?.missing ?? NO_MISSING
  const pinned = context?.pinned ?? NO_PINS
  const formatTokens = (tokens: number | null | undefined) =>
    tokens === null || tokens === undefined
      ? t('app.unknown')
      : t('context.tokens', { tokens: formatCount(tokens, t.locale) })
  return (
    <>
      <Facts>
        <Fact name={t('context.used')}>{formatTokens(context?.used)}</Fact>
        <Fact name={t('context.budget')}>{formatTokens(context?.budget)}</Fact>
        <Fact name={t('context.window')}>{formatTokens(context?.window)}</Fact>
      </Facts>
      <section className="space-y-1">
        <h3 className="font-semibold">{t('context.refs')}</h3>
        {refs.length === 0 && <p className="text-ink-faint">{t('context.no_refs')}</p>}
        <ul aria-label={t('context.refs')}>
          {refs.map((ref) => (
            <Entry key={`${ref.source} ${ref.ref}`} contextRef={ref} />
          ))}
        </ul>
      </section>
      <MissingList missing={missing} />
      <OmissionList omitted={context?.omitted ?? []} />
      {!forReading && (
        <>
          <Pins pinned={pinned} missing={missing} onPins={props.onPins} />
          <Compaction {...props} />
        </>
      )}
    </>
  )
}

function Compaction({ idle, onCompact }: ContextPanelProps) {
  const t = useT()
  return (
    <section className="space-y-1 border-t border-line pt-2">
      <h3 className="font-semibold">{t('context.compaction')}</h3>
      <p className="text-ink-soft">{t('context.compaction_help')}</p>
      <Button look="outline" disabled={!idle} onClick={onCompact}>
        {t('context.compact')}
      </Button>
      {!idle && <p className="text-sm text-ink-faint">{t('context.compact_busy')}</p>}
    </section>
  )
}

const NO_REFS: readonly ContextRef[] = []
const NO_MISSING: readonly MissingRef[] = []
const NO_PINS: readonly string[] = []

function Entry({ contextRef }: { contextRef: ContextRef }) {
  const t = useT()
  const name = shortenName(contextRef)
  return (
    <li className="flex min-h-6 items-center gap-2">
      <Icon name={REF_ICONS[contextRef.kind]} size={14} className="text-ink-faint" />
      <span className="min-w-0 flex-1 truncate" title={contextRef.ref}>
        {stripTerminalCodes(name)}
        <span className="text-sm text-ink-faint"> {t(`context.source.${contextRef.source}`)}</span>
      </span>
      {typeof contextRef.tokens === 'number' && (
        <span className="tabular text-sm text-ink-faint">
          {t('context.tokens', { tokens: formatCount(contextRef.tokens, t.locale) })}
        </span>
      )}
    </li>
  )
}

function Pins(props: {
  readonly pinned: readonly string[]
  readonly missing: readonly MissingRef[]
  readonly onPins: ContextPanelProps['onPins']
}) {
  const t = useT()
  const { pinned } = props
  const [text, setText] = useState('')
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [busy, setBusy] = useState(false)
  const change = async (next: readonly string[]) => {
    setBusy(true)
    const refusal = await props.onPins(next)
    setBusy(false)
    setRefusal(refusal)
    return refusal === null
  }
  const add = async (event: FormEvent) => {
    event.preventDefault()
    const ref = text.trim().replace(/^@/, '')
    if (ref === '' || busy || pinned.includes(ref)) return
    if (await change([...pinned, ref])) setText('')
  }
  return (
    <section className="space-y-1 border-t border-line pt-2">
      <h3 className="font-semibold">{t('context.pins')}</h3>
      <p className="text-ink-soft">{t('context.pins_help')}</p>
      <ul aria-label={t('context.pins')}>
        {pinned.map((ref) => (
          <li key={ref} className="flex min-h-7 items-center gap-2">
            <Icon name="pin" size={12} className="text-ink-faint" />
            <span className="wrap-any min-w-0 flex-1 font-mono text-sm">{stripTerminalCodes(ref)}</span>
            {props.missing.some((other) => other.ref === ref) && (
              <span className="text-sm text-warn">{t('context.pin_missing')}</span>
            )}
            <IconButton
              icon="close"
              label={t('context.unpin', { ref })}
              disabled={busy}
              onClick={() => void change(pinned.filter((other) => other !== ref))}
            />
          </li>
        ))}
      </ul>
      <form onSubmit={(event) => void add(event)} className="flex gap-1.5">
        <input
          aria-label={t('context.pin_label')}
          placeholder={t('context.pin_label')}
          value={text}
          maxLength={4096}
          onChange={(event) => setText(event.target.value)}
          className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-paper px-2"
        />
        <Button type="submit" look="outline" disabled={text.trim() === '' || busy}>
          {t('context.pin')}
        </Button>
      </form>
      <RefusalAlert refusal={refusal} />
    </section>
  )
}
