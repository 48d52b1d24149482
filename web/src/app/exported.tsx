/** Evidence that a person asked for, when it is packed. */
import { useEffect, useRef } from 'react'
import { EvidenceDialog } from '@/features/sessions/evidence-dialog'
import { useT } from '@/features/shared/surface'
import type { ApiClient } from '@/system/api/client'
import type { EvidencePacked } from '@/system/generated/contracts'
import { useServices } from './services-context'
import { useSignal } from './use'

function fileName(evidenceId: string): string {
  return `${evidenceId}.zip`
}

/** A pack is kept as soon as it is there: that is what was asked for. */
function useDownload(packed: EvidencePacked | null, api: ApiClient) {
  const kept = useRef('')
  useEffect(() => {
    if (packed === null || kept.current === packed.evidenceId) return
    kept.current = packed.evidenceId
    const link = document.createElement('a')
    link.href = api.blobAddress(packed.pack.hash, packed.sessionId, fileName(packed.evidenceId))
    link.download = fileName(packed.evidenceId)
    link.click()
  }, [packed, api])
}

export function Exported() {
  const t = useT()
  const { api, evidence } = useServices().workbench
  useSignal(evidence.changes)
  const { packed } = evidence
  useDownload(packed, api)
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
  const address = api.blobAddress(packed.pack.hash, packed.sessionId, fileName(packed.evidenceId))
  return <EvidenceDialog packed={packed} address={address} onDone={() => evidence.dismiss()} />
}
