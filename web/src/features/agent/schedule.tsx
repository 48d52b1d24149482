import { lazy, Suspense } from 'react'
import { formatDuration } from '@/system/format/numbers'
import { useT } from '../shared/surface'

const CronWords = lazy(() => import('./cron-text'))

/** A schedule as text: `every 1800 s`, or a cron line in UTC. Other text is shown unchanged. */
export function Schedule({ schedule }: { schedule: string }) {
  const t = useT()
  if (schedule === '') return t('app.none')
  const every = /^every (\d+) s$/.exec(schedule)?.[1]
  if (every !== undefined) {
    return t('team.background.every', { time: formatDuration(Number(every) * 1000, t.locale) })
  }
  return (
    <Suspense fallback={<span className="font-mono">{schedule}</span>}>
      <CronWords line={schedule} />
    </Suspense>
  )
}
