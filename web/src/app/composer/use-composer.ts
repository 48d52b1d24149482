/** State of the composer: draft, turn settings and attachments. */
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
import { useDefaultMode } from './use-default-mode'

const BUSY: readonly BusySendMode[] = ['queue', 'steer', 'interrupt']

export interface NextTurn {
  readonly settings: TurnSettings
  /**
   * False if the person did not choose the permission mode. The shown mode is likely; the server
   * decides.
   */
  readonly chosen: boolean
  readonly onChoose: (change: Partial<TurnSettings>) => void
}

/**
 * The settings of the next turn: the person's choices, else those of the last turn in `turns` (the
 * person's thread).
 */
export function useNextTurn(session: Session, turns: readonly TurnRow[]): NextTurn {
  const { choices, workbench } = useServices()
  useSignal(choices.changes)
  const { id } = session
  const last = turns.findLast((turn) => turn.source === 'person') ?? turns.at(-1) ?? null
  // Only a new turn clears choices. Choices made after sending are for the next input.
  // biome-ignore lint/correctness/useExhaustiveDependencies: run once per turn id
  useEffect(() => {
    if (last !== null) choices.clearApplied(id, last)
  }, [choices, id, last?.turnId])
  const sent = workbench.outbox.listEntries(id).findLast((entry) => entry.sendMode !== 'steer')
  const next = choices.get(id)
  const mode = next.mode ?? (sent ?? last ?? DEFAULT_TURN_SETTINGS).mode
  const chosenMode = next.permissionMode ?? (sent?.chosen ? sent : last)?.permissionMode
  const permissionMode = chosenMode ?? (sent ?? DEFAULT_TURN_SETTINGS).permissionMode
  const onChoose = useCallback((change: Partial<TurnSettings>) => choices.choose(id, change), [choices, id])
  return { settings: { mode, permissionMode }, chosen: chosenMode !== undefined, onChoose }
}

/** The settings of a new session's first turn, from the settings files. */
export function useFirstTurn(): NextTurn {
  const defaultMode = useDefaultMode()
  const [next, setNext] = useState<Partial<TurnSettings>>({})
  const onChoose = useCallback(
    (change: Partial<TurnSettings>) => setNext((before) => ({ ...before, ...change })),
    [],
  )
  const settings = { ...DEFAULT_TURN_SETTINGS, ...(defaultMode && { permissionMode: defaultMode }), ...next }
  return { settings, chosen: next.permissionMode !== undefined, onChoose }
}

/** `running` is the running turn. Its model may differ from the next turn's. */
export function useComposer(draftKey: string, { settings, chosen, onChoose }: NextTurn, running = '') {
  const { values, drafts, workbench } = useServices()
  useSignal(drafts.changes)
  const [busySendMode, setBusySendMode] = useState(
    () => BUSY.find((mode) => mode === values.read('busy')) ?? null,
  )
  const onSettings = useCallback(
    ({ busySendMode: sendMode, ...change }: Partial<ComposerSettings>) => {
      if (sendMode !== undefined) {
        values.write('busy', sendMode)
        setBusySendMode(sendMode)
      }
      if (Object.keys(change).length > 0) onChoose(change)
    },
    [values, onChoose],
  )
  const { mode, permissionMode } = settings
  const onSend = useCallback(
    (text: string, sendMode: SendMode) =>
      void workbench.send({ text, sendMode, mode, permissionMode, chosen }),
    [workbench, mode, permissionMode, chosen],
  )
  const onDraft = useCallback((text: string) => drafts.set(draftKey, text), [drafts, draftKey])
  const draft = drafts.get(draftKey)
  const attaching = useAttaching(draftKey, running)
  const onMention = useFindMentions(draftKey)
  return { draft, onDraft, settings: { ...settings, busySendMode }, onSettings, onSend, attaching, onMention }
}

function useAttaching(draftKey: string, running: string): AttachmentProps {
  const { attachments } = useServices().workbench
  useSignal(attachments.changes)
  const onFiles = useCallback(
    (files: readonly File[]) => attachments.add(draftKey, files),
    [attachments, draftKey],
  )
  const onRemove = useCallback((id: string) => attachments.remove(draftKey, id), [attachments, draftKey])
  const list = attachments.listFiles(draftKey)
  const hasImages = list.some((file) => file.media.startsWith('image/'))
  return { list, onFiles, onRemove, route: useModelRoute(draftKey, running, hasImages) }
}

/**
 * The model that receives the input. Requested if an image is attached, and again if an input to
 * the choice changes.
 */
function useModelRoute(draftKey: string, running: string, hasImages: boolean): RoutePreview | null {
  const { workbench, settings } = useServices()
  useSignal(settings.changes)
  const { api, workspaceId } = workbench
  const models = workbench.meta?.models.map(({ provider, name }) => `${provider}/${name}`).join(' ')
  const inputs = `${draftKey} ${workspaceId} ${running} ${settings.view.read?.digest} ${models}`
  const [answer, setAnswer] = useState({ answeredInputs: '', route: null as RoutePreview | null })
  // biome-ignore lint/correctness/useExhaustiveDependencies: `inputs` changes if the answer may change
  useEffect(() => {
    if (!hasImages) return
    let isStale = false
    const target = draftKey === NEW_SESSION ? { workspaceId } : { sessionId: draftKey }
    api.query('preview_route', target).then(
      (route) => !isStale && setAnswer({ answeredInputs: inputs, route }),
      // Sending reports the same problem as a refusal.
      () => !isStale && setAnswer({ answeredInputs: inputs, route: null }),
    )
    return () => {
      isStale = true
    }
  }, [api, inputs, hasImages])
  return answer.answeredInputs === inputs ? answer.route : null
}

/** Mention suggestions of a session; none on failure. The turn reports refs that it cannot find. */
function useFindMentions(draftKey: string): FindMentions {
  const { workbench } = useServices()
  return useCallback(
    async (text: string) => {
      const { workspaceId } = workbench
      const session = draftKey === NEW_SESSION ? {} : { sessionId: draftKey }
      try {
        return (await workbench.api.query('find_mentions', { workspaceId, text, ...session })).mentions
      } catch {
        return []
      }
    },
    [workbench, draftKey],
  )
}
