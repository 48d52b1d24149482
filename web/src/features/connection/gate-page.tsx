import { Button } from '@/ui/button'
import { useT } from '../shared/surface'

const COMMAND = 'callboard'

/** The page if it is not signed in or the server is unreachable. */
export function GatePage(props: {
  readonly why: 'unauthenticated' | 'unreachable'
  readonly onRetry: () => void
}) {
  const t = useT()
  return (
    <main className="flex h-full items-center justify-center p-6">
      <div className="max-w-md space-y-2">
        <h1 className="text-xl font-semibold">{t(`gate.${props.why}`)}</h1>
        <p className="text-lg text-ink-soft">{t(`gate.${props.why}_hint`, { command: COMMAND })}</p>
        <Button look="outline" onClick={props.onRetry} className="mt-2">
          {t('app.retry_now')}
        </Button>
      </div>
    </main>
  )
}
