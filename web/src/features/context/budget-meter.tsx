import { formatCount } from '@/system/format/numbers'
import type { ContextRow } from '@/system/rows/model'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

/** Share from which the meter reads "nearly full". */
const NEARLY_FULL = 0.8

/** The estimated use of the model's context window. A missing value reads "unknown". */
export function BudgetMeter({ context, onOpen }: { context: ContextRow | null; onOpen: () => void }) {
  const t = useT()
  const used = context?.used ?? null
  const budget = context?.budget ?? context?.window ?? null
  const pins = context?.pinned.length ?? 0
  if (context === null || (used === null && pins === 0)) return null
  const share = budget === null || budget === 0 || used === null ? null : Math.min(1, used / budget)
  const figures = {
    used: used === null ? t('status.unknown_tokens') : formatCount(used, t.locale),
    budget: budget === null ? t('status.unknown_tokens') : formatCount(budget, t.locale),
  }
  const full = share !== null && share >= NEARLY_FULL
  return (
    <button
      type="button"
      onClick={onOpen}
      title={t('context.meter_hint')}
      aria-label={
        pins === 0
          ? t('context.meter_label', figures)
          : `${t('context.meter_label', figures)}, ${t.count('context.pinned', pins)}`
      }
      className={`inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm hover:bg-hover ${full ? 'text-warn' : 'text-ink-faint'}`}
    >
      {pins > 0 && (
        <span className="tabular inline-flex items-center gap-0.5" title={context.pinned.join('\n')}>
          <Icon name="pin" size={12} />
          {formatCount(pins, t.locale)}
        </span>
      )}
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" className="-rotate-90">
        <circle cx="8" cy="8" r="6" fill="none" strokeWidth="2.5" className="stroke-line-strong" />
        {share !== null && (
          <circle
            cx="8"
            cy="8"
            r="6"
            fill="none"
            strokeWidth="2.5"
            stroke="currentColor"
            pathLength={100}
            strokeDasharray={`${Math.max(1, Math.round(share * 100))} 100`}
          />
        )}
      </svg>
      <span className="tabular max-sm:hidden">
        {share !== null && formatPercent(share, t.locale)}
        {share === null && used !== null && t('context.meter_unknown', { used: figures.used })}
      </span>
    </button>
  )
}

function formatPercent(share: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 }).format(share)
}
