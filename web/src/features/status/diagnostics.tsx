import { formatDuration } from '@/system/format/numbers'
import type { Timing } from '@/system/workbench/timings'
import { IconButton } from '@/ui/button'
import { Popover } from '@/ui/menu/popover'
import { useT } from '../shared/surface'

export interface DiagnosticsProps {
  readonly timings: readonly Timing[]
  readonly system: readonly (readonly [name: string, value: string])[]
}

/** Waiting times of the page, measured in this browser. */
export function Diagnostics(props: DiagnosticsProps) {
  const t = useT()
  return (
    <Popover
      label={t('diagnostics.title')}
      trigger={<IconButton aria-haspopup="dialog" icon="gauge" label={t('diagnostics.title')} />}
    >
      <h2 className="font-semibold">{t('diagnostics.title')}</h2>
      <Figures timings={props.timings} />
      <p className="pb-2 text-sm text-ink-faint">{t('diagnostics.local')}</p>
      <dl className="grid grid-cols-[96px_1fr] gap-x-3 gap-y-0.5 border-t border-line pt-2 text-sm">
        {props.system.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-faint">{name}</dt>
            <dd className="wrap-any tabular">{value}</dd>
          </div>
        ))}
      </dl>
    </Popover>
  )
}

function Figures({ timings }: { timings: readonly Timing[] }) {
  const t = useT()
  if (timings.length === 0) return <p className="py-1 text-ink-faint">{t('diagnostics.none')}</p>
  const formatTime = (milliseconds: number) => formatDuration(milliseconds, t.locale)
  return (
    <table className="tabular my-1.5 w-full text-sm">
      <thead className="text-ink-faint">
        <tr>
          <th className="text-left font-normal">{t('diagnostics.measure')}</th>
          <th className="pl-2 text-right font-normal">{t('diagnostics.last')}</th>
          <th className="pl-2 text-right font-normal">{t('diagnostics.typical')}</th>
          <th className="pl-2 text-right font-normal">{t('diagnostics.worst')}</th>
        </tr>
      </thead>
      <tbody>
        {timings.map((timing) => (
          <tr key={timing.name}>
            <th className="text-left font-normal">{t(`diagnostics.${timing.name}`)}</th>
            <td className="pl-2 text-right whitespace-nowrap">{formatTime(timing.last)}</td>
            <td className="pl-2 text-right whitespace-nowrap">{formatTime(timing.typical)}</td>
            <td className="pl-2 text-right whitespace-nowrap">{formatTime(timing.worst)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
