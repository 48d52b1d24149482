/** The question about an untrusted folder, above the page. */
import { useEffect } from 'react'
import { isFolderInvalid } from '@/features/shared/settings-problem'
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
    const refresh = () => void trust.refresh(workspaceId)
    refresh()
    // Other programs may change the folder's files, so read again when the page gets the focus.
    window.addEventListener('focus', refresh)
    return () => window.removeEventListener('focus', refresh)
  }, [trust, workspaceId])
  const trustRead = trust.get(workspaceId)
  if (trustRead === null) return null
  const wants = trustRead.state === 'untrusted' || trustRead.state === 'changed'
  const asks = wants && !isFolderInvalid(trustRead) && !trust.isDismissed(trustRead)
  return (
    <>
      <SettingsProblems problems={trustRead.problems} />
      {asks && <TrustQuestion read={trustRead} folded={folded} />}
    </>
  )
}

function TrustQuestion({ read, folded }: { readonly read: TrustRead; readonly folded: boolean }) {
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
