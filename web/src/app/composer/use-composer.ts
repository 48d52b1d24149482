/** What the composer keeps here: the draft of each session, and how the person likes to send. */
import { useCallback, useEffect, useState } from 'react'
import type { AttachmentProps } from '@/features/composer/attachments'
import type { BusySendMode, ComposerSettings } from '@/features/composer/composer'
import type { FindMentions } from '@/features/composer/mentions'
import type { RoutePreview } from '@/system/generated/contracts'
import { DEFAULT_TURN_SETTINGS, type TurnSettings } from '@/system/local/turn-settings'
import type { TurnRow } from '@/system/rows/model'
import type { SendMode } from '@/system/stores/outbox'
import type { Session } from '@/system/workbench/session'
import { NEW_SESSION } from '@/system/workbench/workbench'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'
import { useUsualMode } from './use-default-mode'

const BUSY: readonly BusySendMode[] = ['queue', 'steer', 'interrupt']

export interface Chosen {
  readonly settings: TurnSettings
  /** False where nobody chose the permission mode: what is shown is what is likely, and the server says what it is. */
  readonly chosen: boolean
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
    if (last !== null) choices.clearApplied(id, last)
  }, [choices, id, last?.turnId])
  const sent = workbench.outbox.entriesOf(id).findLast((entry) => entry.how !== 'steer')
  const next = choices.get(id)
  const mode = next.mode ?? (sent ?? last ?? DEFAULT_TURN_SETTINGS).mode
  const known = next.permissionMode ?? (sent?.chosen ? sent : last)?.permissionMode
  const permissionMode = known ?? (sent ?? DEFAULT_TURN_SETTINGS).permissionMode
  const onChoose = useCallback((change: Partial<TurnSettings>) => choices.choose(id, change), [choices, id])
  return { settings: { mode, permissionMode }, chosen: known !== undefined, onChoose }
}

/** A new session begins in the mode that the settings call for, whatever was chosen for another. */
export function useChosenAtFirst(): Chosen {
  const usual = useUsualMode()
  const [next, setNext] = useState<Partial<TurnSettings>>({})
  const onChoose = useCallback(
    (change: Partial<TurnSettings>) => setNext((before) => ({ ...before, ...change })),
    [],
  )
  const settings = { ...DEFAULT_TURN_SETTINGS, ...(usual && { permissionMode: usual }), ...next }
  return { settings, chosen: next.permissionMode !== undefined, onChoose }
}

/** `running` names the turn under way, whose model may be another than the next one's. */
export function useComposer(place: string, { settings, chosen, onChoose }: Chosen, running = '') {
  const { values, drafts, workbench } = useServices()
  useSignal(drafts.changes)
  const [busyHow, setBusyHow] = useState(() => BUSY.find((how) => how === values.read('busy')) ?? null)
  const onSettings = useCallback(
    ({ busyHow: how, ...change }: Partial<ComposerSettings>) => {
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
    (text: string, how: SendMode) => void workbench.send({ text, how, mode, permissionMode, chosen }),
    [workbench, mode, permissionMode, chosen],
  )
  const onDraft = useCallback((text: string) => drafts.set(place, text), [drafts, place])
  const draft = drafts.get(place)
  const attaching = useAttaching(place, running)
  const onMention = useFindMentions(place)
  return { draft, onDraft, settings: { ...settings, busyHow }, onSettings, onSend, attaching, onMention }
}

function useAttaching(place: string, running: string): AttachmentProps {
  const { attachments } = useServices().workbench
  useSignal(attachments.changes)
  const onFiles = useCallback((files: readonly File[]) => attachments.add(place, files), [attachments, place])
  const onRemove = useCallback((id: string) => attachments.remove(place, id), [attachments, place])
  const list = attachments.filesAt(place)
  const pictured = list.some((file) => file.media.startsWith('image/'))
  return { list, onFiles, onRemove, route: useRoute(place, running, pictured) }
}

/** Where the input goes: asked once an image is attached, and again where what decides it may be another. */
function useRoute(place: string, running: string, asked: boolean): RoutePreview | null {
  const { workbench, settings } = useServices()
  useSignal(settings.changes)
  const { api, workspaceId } = workbench
  const models = workbench.meta?.models.map(({ provider, name }) => `${provider}/${name}`).join(' ')
  const holds = `${place} ${workspaceId} ${running} ${settings.view.read?.digest} ${models}`
  const [found, setFound] = useState({ holds: '', route: null as RoutePreview | null })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what holds may be another
  useEffect(() => {
    if (!asked) return
    let gone = false
    const of = place === NEW_SESSION ? { workspaceId } : { sessionId: place }
    api.query('preview_route', of).then(
      (route) => !gone && setFound({ holds, route }),
      // Sending says the same, as a refusal.
      () => !gone && setFound({ holds, route: null }),
    )
    return () => {
      gone = true
    }
  }, [api, holds, asked])
  return found.holds === holds ? found.route : null
}

/** What an @ may mean here. Where it cannot be asked, nothing is suggested; the turn says what it could not find. */
function useFindMentions(place: string): FindMentions {
  const { workbench } = useServices()
  return useCallback(
    async (text: string) => {
      const { workspaceId } = workbench
      const session = place === NEW_SESSION ? {} : { sessionId: place }
      try {
        return (await workbench.api.query('find_mentions', { workspaceId, text, ...session })).mentions
      } catch {
        return []
      }
    },
    [workbench, place],
  )
}
