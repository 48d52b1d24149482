import { lazy, Suspense, useEffect, useState } from 'react'
import { useT } from '@/features/shared/surface'
import { Button } from '@/ui/button'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

const PastSessions = lazy(() => import('@/features/import/import-list'))

/** Delay before the loading line appears, in milliseconds, so that it does not flicker. */
const LOADING_DELAY_MS = 300

/** The past sessions of other products in the folder; hidden if there are none. */
export function ImportOffer() {
  const t = useT()
  const { imports: past, workbench } = useServices()
  useSignal(past.changes)
  const { workspaceId } = workbench
  useEffect(() => {
    void past.open(workspaceId)
  }, [past, workspaceId])
  const { list, failed, imports } = past.view
  if (workspaceId === '') return null
  if (list === null) {
    if (failed === null) return <LoadingLine />
    return (
      <div className="text-sm text-ink-soft">
        <p>{t('first.past_failed')}</p>
        <p className="wrap-any text-ink-faint">{failed.message}</p>
        <Button className="-ml-2.5" onClick={() => void past.open(workspaceId)}>
          {t('first.past_retry')}
        </Button>
      </div>
    )
  }
  if (list.sessions.length === 0 && (list.unreadable ?? []).length === 0) return null
  return (
    <Suspense fallback={null}>
      <PastSessions
        list={list}
        imports={imports}
        onImport={(sessions) => void past.enqueue(sessions)}
        onStop={() => past.stop()}
        onOpen={(sessionId) => workbench.openSession(sessionId)}
      />
    </Suspense>
  )
}

function LoadingLine() {
  const t = useT()
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), LOADING_DELAY_MS)
    return () => clearTimeout(timer)
  }, [])
  return slow && <p className="text-sm text-ink-faint">{t('first.past_searching')}</p>
}
