import { Component, type ReactNode } from 'react'
import { useT } from '@/features/shared/surface'
import { Button } from '@/ui/button'

/** Shows an error instead of the page if rendering fails. */
export class FailureBoundary extends Component<
  { readonly children: ReactNode },
  { readonly error: unknown }
> {
  override state = { error: null }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render(): ReactNode {
    return this.state.error === null ? this.props.children : <Failure error={this.state.error} />
  }
}

function Failure({ error }: { error: unknown }) {
  const t = useT()
  return (
    <main className="flex h-full items-center justify-center p-6">
      <div className="max-w-md space-y-2" role="alert">
        <h1 className="text-xl font-semibold">{t('failure.title')}</h1>
        <p className="text-lg text-ink-soft">{t('failure.hint')}</p>
        <p className="wrap-any font-mono text-sm text-ink-faint">{String(error)}</p>
        <Button look="outline" onClick={() => window.location.reload()}>
          {t('failure.reload')}
        </Button>
      </div>
    </main>
  )
}
