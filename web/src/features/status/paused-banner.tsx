import type { PauseCause } from '@/system/generated/contracts'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

/** A paused thread, with the button that resumes it. */
export function PausedBanner(props: {
  readonly cause: PauseCause
  readonly queued: number
  readonly onResume: () => void
}) {
  const t = useT()
  return (
    <section className="flex flex-wrap items-center gap-x-2 gap-y-1 rounded-lg border border-warn/50 bg-warn-soft px-3 py-1.5">
      <Icon name="warning" size={14} className="text-warn" />
      <p className="min-w-0 flex-1">
        {t(`paused.${props.cause}`)} {props.queued > 0 && t.count('paused.queued', props.queued)}
      </p>
      <Button look="outline" icon="play" onClick={props.onResume}>
        {t('paused.resume')}
      </Button>
    </section>
  )
}
