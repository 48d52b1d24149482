/** The permission mode of a turn for which nobody chose one, as the settings of the person and of the folder have it. */
import { useEffect, useState } from 'react'
import { PERMISSION_MODES, type PermissionMode } from '@/system/generated/contracts'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

/** Null until it was read, and where it cannot be. It is read again where settings or the folder's trust become others. */
export function useUsualMode(): PermissionMode | null {
  const { workbench, settings, trust } = useServices()
  useSignal(settings.changes)
  useSignal(trust.changes)
  const { api, workspaceId } = workbench
  const holds = `${settings.view.read?.digest} ${trust.get(workspaceId)?.state}`
  const [usual, setUsual] = useState({ workspaceId: '', mode: null as PermissionMode | null })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what holds may be another
  useEffect(() => {
    if (workspaceId === '') return
    let gone = false
    const told = (mode: PermissionMode | null) => {
      if (!gone) setUsual({ workspaceId, mode })
    }
    api.query('get_settings', { place: 'folder', workspaceId }).then(
      ({ holding }) => told(PERMISSION_MODES.find((mode) => mode === holding.usual_mode) ?? null),
      () => told(null),
    )
    return () => {
      gone = true
    }
  }, [api, workspaceId, holds])
  return usual.workspaceId === workspaceId ? usual.mode : null
}
