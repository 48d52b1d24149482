/** The dialog of an exported evidence pack. */
import { useCallback, useEffect, useRef } from 'react'
import { EvidenceDialog } from '@/features/session/evidence-dialog'
import { useT } from '@/features/shared/surface'
import type { EvidencePacked } from '@/system/generated/contracts'
import { saveFile } from '@/system/local/save-file'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

function buildFileName(evidenceId: string): string {
  return `${evidenceId}.zip`
}

/** Saves a pack as soon as it is exported. */
function useDownload(packed: EvidencePacked | null, save: (packed: EvidencePacked) => void) {
  const savedPack = useRef('')
  useEffect(() => {
    if (packed === null || savedPack.current === packed.evidenceId) return
    savedPack.current = packed.evidenceId
    save(packed)
  }, [packed, save])
}

export function PackedEvidence() {
  const t = useT()
  const { workbench } = useServices()
  const { evidence } = workbench
  const save = useCallback(
    ({ pack, sessionId, evidenceId }: EvidencePacked) =>
      void workbench.attempt(async () =>
        saveFile(await workbench.api.readFile(pack.hash, sessionId), buildFileName(evidenceId)),
      ),
    [workbench],
  )
  useSignal(evidence.changes)
  const { packed } = evidence
  useDownload(packed, save)
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
  return <EvidenceDialog packed={packed} onDownload={() => save(packed)} onDone={() => evidence.dismiss()} />
}
