/** What the composer keeps here: the draft of each session, and how the person likes to send. */
import { useCallback, useEffect, useState } from 'react'
import type { BusyHow, Settings } from '@/features/composer/composer'
import { AT_FIRST, type TurnSettings } from '@/system/local/choices'
import type { TurnRow } from '@/system/rows/model'
import type { How } from '@/system/workbench/outbox'
import type { Session } from '@/system/workbench/session'
import { useServices } from './services-context'
import { useSignal } from './use'

const BUSY: readonly BusyHow[] = ['queue', 'steer', 'interrupt']

export interface Chosen {
  readonly settings: TurnSettings
  readonly onChoose: (change: Partial<TurnSettings>) => void
}

/** A session goes on as its last turn ran, until the person says otherwise. `turns` are those of the person's thread. */
export function useChosen(session: Session, turns: readonly TurnRow[]): Chosen {
  const { choices, workbench } = useServices()
  useSignal(choices.changes)
  const { id } = session
  const last = turns.findLast((turn) => turn.source === 'person') ?? turns.at(-1) ?? null
  // Only what comes anew ends a choice: one that was made after sending is for what is sent next.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the turn's id says that it is another
  useEffect(() => {
    if (last !== null) choices.taken(id, last)
  }, [choices, id, last?.turnId])
  const sent = workbench.outbox.of(id).findLast((entry) => entry.how !== 'steer')
  const { mode, permissionMode } = { ...(sent ?? last ?? AT_FIRST), ...choices.get(id) }
  const onChoose = useCallback((change: Partial<TurnSettings>) => choices.choose(id, change), [choices, id])
  return { settings: { mode, permissionMode }, onChoose }
}

/** A new session begins at the same, whatever was chosen for another. */
export function useChosenAtFirst(): Chosen {
  const [settings, setSettings] = useState(AT_FIRST)
  const onChoose = useCallback(
    (change: Partial<TurnSettings>) => setSettings((before) => ({ ...before, ...change })),
    [],
  )
  return { settings, onChoose }
}

export function useComposer(place: string, { settings, onChoose }: Chosen) {
  const { values, drafts, workbench } = useServices()
  useSignal(drafts.changes)
  const [busyHow, setBusyHow] = useState(() => BUSY.find((how) => how === values.read('busy')) ?? null)
  const onSettings = useCallback(
    ({ busyHow: how, ...change }: Partial<Settings>) => {
      if (how !== undefined) {
        values.write('busy', how)
        setBusyHow(how)
      }
      if (Object.keys(change).length > 0) onChoose(change)
    },
    [values, onChoose],
  )
  const { mode, permissionMode } = settings
  const onSend = useCallback(
    (text: string, how: How) => void workbench.send({ text, how, mode, permissionMode }),
    [workbench, mode, permissionMode],
  )
  const onDraft = useCallback((text: string) => drafts.set(place, text), [drafts, place])
  return { draft: drafts.get(place), onDraft, settings: { ...settings, busyHow }, onSettings, onSend }
}
