/** What the composer keeps here: the draft of each session, and how the person likes to send. */
import { useCallback, useState } from 'react'
import type { BusyHow, Settings } from '@/features/composer/composer'
import { MODES, PERMISSION_MODES } from '@/system/generated/contracts'
import type { LocalValues } from '@/system/local/values'
import type { How } from '@/system/workbench/outbox'
import { useServices } from './services-context'
import { useSignal } from './use'

const BUSY: readonly BusyHow[] = ['queue', 'steer', 'interrupt']

export function readSettings(values: LocalValues): Settings {
  return {
    mode: MODES.find((mode) => mode === values.read('mode')) ?? 'chat',
    permissionMode: PERMISSION_MODES.find((mode) => mode === values.read('permission')) ?? 'ask',
    busyHow: BUSY.find((how) => how === values.read('busy')) ?? null,
  }
}

export function useComposer(place: string) {
  const { values, drafts, workbench } = useServices()
  useSignal(drafts.changes)
  const [settings, setSettings] = useState(() => readSettings(values))
  const onSettings = useCallback(
    (change: Partial<Settings>) => {
      if (change.mode !== undefined) values.write('mode', change.mode)
      if (change.permissionMode !== undefined) values.write('permission', change.permissionMode)
      if (change.busyHow !== undefined) values.write('busy', change.busyHow)
      setSettings((before) => ({ ...before, ...change }))
    },
    [values],
  )
  const { mode, permissionMode } = settings
  const onSend = useCallback(
    (text: string, how: How) => void workbench.send({ text, how, mode, permissionMode }),
    [workbench, mode, permissionMode],
  )
  const onDraft = useCallback((text: string) => drafts.set(place, text), [drafts, place])
  return { draft: drafts.get(place), onDraft, settings, onSettings, onSend }
}
