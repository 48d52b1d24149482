import { useEffect, useMemo } from 'react'
import { SignInPage } from '@/features/connection/sign-in-page'
import { type Surface, SurfaceProvider } from '@/features/shared/surface'
import { readRoute } from '@/system/local/route'
import type { Services } from './services'
import { ServicesProvider } from './services-context'
import { FailureBoundary } from './shell/failure-boundary'
import { Shell } from './shell/shell'
import { useSignal } from './use-signal'

/** The page, or the reason why there is nothing to show. */
export function App({ services }: { services: Services }) {
  const { workbench, language, values } = services
  useSignal(workbench.changes)
  useSignal(language.changes)
  const t = language.translate
  const surface = useMemo<Surface>(() => {
    const { blobs, images } = workbench
    return {
      t,
      blobs: {
        get: (hash) => blobs.get(hash),
        load: (ref) => void blobs.load(ref),
        subscribe: blobs.changes.subscribe,
      },
      images: {
        get: (hash) => images.get(hash),
        load: (ref) => void images.load(ref),
        subscribe: images.changes.subscribe,
      },
    }
  }, [t, workbench])
  const begin = () => {
    const workspaceId = readRoute(window.location.hash).workspaceId
    void workbench.begin(workspaceId ?? values.read('workspace'))
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: start once, if `main.tsx` has not started it
  useEffect(() => {
    if (workbench.phase === 'starting') begin()
  }, [])
  return (
    <ServicesProvider services={services}>
      <SurfaceProvider value={surface}>
        <FailureBoundary>
          {workbench.phase === 'starting' && <p className="sr-only">{t('app.starting')}</p>}
          {workbench.phase === 'ready' && <Shell />}
          {(workbench.phase === 'unauthenticated' || workbench.phase === 'unreachable') && (
            <SignInPage reason={workbench.phase} onRetry={begin} />
          )}
        </FailureBoundary>
      </SurfaceProvider>
    </ServicesProvider>
  )
}
