/** The default permission mode, from the settings of the person and the folder. */
import { useEffect, useState } from 'react'
import { PERMISSION_MODES, type PermissionMode } from '@/system/generated/contracts'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

/** Null until it is read, and on failure. It is read again if settings or trust change. */
export function useDefaultMode(): PermissionMode | null {
  const { workbench, settings, trust } = useServices()
  useSignal(settings.changes)
  useSignal(trust.changes)
  const { api, workspaceId } = workbench
  const inputs = `${settings.view.read?.digest} ${trust.get(workspaceId)?.state}`
  const [answer, setAnswer] = useState({ workspaceId: '', mode: null as PermissionMode | null })
  // biome-ignore lint/correctness/useExhaustiveDependencies: `inputs` changes if the answer may change
  useEffect(() => {
    if (workspaceId === '') return
    let isStale = false
    const update = (mode: PermissionMode | null) => {
      if (!isStale) setAnswer({ workspaceId, mode })
    }
    api.query('get_settings', { place: 'folder', workspaceId }).then(
      ({ holding }) => update(PERMISSION_MODES.find((mode) => mode === holding.usual_mode) ?? null),
      () => update(null),
    )
    return () => {
      isStale = true
    }
  }, [api, workspaceId, inputs])
  return answer.workspaceId === workspaceId ? answer.mode : null
}
