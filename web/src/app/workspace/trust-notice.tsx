/** The one question about an untrusted folder, above whatever is on the screen. */
import { useEffect } from 'react'
import { SettingsProblems } from '@/features/workspace/settings-problems'
import { TrustBanner } from '@/features/workspace/trust-banner'
import type { TrustRead } from '@/system/generated/contracts'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

export function TrustNotice({ folded = false }: { readonly folded?: boolean }) {
  const { workbench, trust } = useServices()
  useSignal(trust.changes)
  const { workspaceId } = workbench
  useEffect(() => {
    const look = () => void trust.refresh(workspaceId)
    look()
    // The files of a folder are changed elsewhere: who comes back sees what they ask for by now.
    window.addEventListener('focus', look)
    return () => window.removeEventListener('focus', look)
  }, [trust, workspaceId])
  const read = trust.get(workspaceId)
  if (read === null) return null
  const asks = (read.state === 'untrusted' || read.state === 'changed') && !trust.isDismissed(read)
  return (
    <>
      <SettingsProblems problems={read.problems} />
      {asks && <Asked read={read} folded={folded} />}
    </>
  )
}

function Asked({ read, folded }: { readonly read: TrustRead; readonly folded: boolean }) {
  const { workbench, trust } = useServices()
  return (
    <TrustBanner
      key={read.digest}
      trust={read}
      folded={folded}
      onTrust={() => workbench.attempt(() => trust.trust(read))}
      onNotNow={() => trust.dismiss(read)}
    />
  )
}
