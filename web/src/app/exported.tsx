/** Evidence that a person asked for, when it is packed. */
import { EvidenceDialog } from '@/features/sessions/evidence-dialog'
import { useT } from '@/features/shared/surface'
import { useServices } from './services-context'
import { useSignal } from './use'

export function Exported() {
  const t = useT()
  const { api, evidence } = useServices().workbench
  useSignal(evidence.changes)
  const { packed } = evidence
  if (packed === null) {
    return evidence.packing ? (
      <p
        role="status"
        className="fixed bottom-3 left-1/2 z-40 -translate-x-1/2 rounded-md border border-line-strong bg-surface px-3 py-1.5 shadow-lg"
      >
        {t('evidence.packing')}
      </p>
    ) : null
  }
  return (
    <EvidenceDialog
      packed={packed}
      address={api.blobAddress(packed.pack.hash, packed.sessionId)}
      onDone={() => evidence.dismiss()}
    />
  )
}
