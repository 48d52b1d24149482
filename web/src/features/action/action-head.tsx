import { markInvisible } from '@/system/format/exact-text'
import { formatElapsed } from '@/system/format/numbers'
import type { Translate } from '@/system/i18n/translate'
import type { ActionRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Icon, type IconName } from '@/ui/icon'
import { Badge, Key, type Tone } from '@/ui/marks'
import { useNow } from '@/ui/use-now'
import { useT } from '../shared/surface'

const RISKS: Record<ActionRow['risk'], Tone> = { none: 'quiet', low: 'quiet', medium: 'warn', high: 'bad' }

export interface ActionHeadProps {
  /** The agent that asks; empty if it is the only agent. */
  readonly agentName: string
  /** The agent that it works for; absent if it works for a person. */
  readonly parentName?: string
  /** The job item that it works on, shown instead of the parent. Absent if there is none. */
  readonly itemTitle?: string
}

function describeAsker(
  t: Translate,
  { agentName: agent, parentName: parent, itemTitle: item }: ActionHeadProps,
): string {
  if (item) return t('action.asked_at', { agent, item: markInvisible(item) })
  return parent ? t('action.asked_for', { agent, parent }) : t('action.asked_by', { agent })
}

/** The head of an action card: title, agent, deadline and position in the queue. */
export function ActionHead(
  props: ActionHeadProps & {
    readonly action: ActionRow
    readonly icon: IconName
    readonly title: string
    readonly risk?: boolean
    readonly index: number
    readonly count: number
    readonly onNext: () => void
  },
) {
  const t = useT()
  const { action } = props
  return (
    <header className="flex flex-wrap items-center gap-2">
      <Icon name={props.icon} className="text-warn" />
      <h2 className="text-lg font-semibold">{props.title}</h2>
      {props.risk && <Badge tone={RISKS[action.risk]}>{t(`action.risk.${action.risk}`)}</Badge>}
      {props.agentName && <span className="wrap-any text-sm text-ink-soft">{describeAsker(t, props)}</span>}
      <span className="ml-auto flex items-center gap-2 text-sm text-ink-faint">
        {action.expiresAt > 0 && <ExpiryText at={action.expiresAt} />}
        <span className="group-focus-within:hidden max-sm:hidden">
          <Key>{t('action.focus_keys')}</Key>
        </span>
        {props.count > 1 && (
          <>
            <span className="tabular">
              {t('action.position', { index: props.index + 1, count: props.count })}
            </span>
            <Button onClick={props.onNext}>{t('action.next')}</Button>
          </>
        )}
      </span>
    </header>
  )
}

function ExpiryText({ at }: { at: number }) {
  const t = useT()
  const now = useNow(1000)
  const remaining = at / 1000 - now
  if (remaining <= 0) return <span className="text-bad">{t('action.expired')}</span>
  return <span className="tabular">{t('action.expires', { time: formatElapsed(remaining, t.locale) })}</span>
}
