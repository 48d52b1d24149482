import { Button } from '@/ui/button'
import { useT } from '../shared/surface'

const COMMAND = 'callboard'

/** The page if it is not signed in or the server is unreachable. */
export function SignInPage(props: {
  readonly reason: 'unauthenticated' | 'unreachable'
  readonly onRetry: () => void
}) {
  const t = useT()
  return (
    <main className="flex h-full items-center justify-center p-6">
      <div className="max-w-md space-y-2">
        <h1 className="text-xl font-semibold">{t(`sign_in.${props.reason}`)}</h1>
        <p className="text-lg text-ink-soft">{t(`sign_in.${props.reason}_hint`, { command: COMMAND })}</p>
        <Button look="outline" onClick={props.onRetry} className="mt-2">
          {t('app.retry_now')}
        </Button>
      </div>
    </main>
  )
}
