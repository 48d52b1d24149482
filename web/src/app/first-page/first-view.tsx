import { type Ref, useEffect } from 'react'
import { Composer } from '@/features/composer/composer'
import { NoticeList } from '@/features/connection/notice-list'
import { SentEntry } from '@/features/conversation/sent-entry'
import { FirstPage } from '@/features/first-page/first-page'
import { ModelSetup } from '@/features/first-page/model-setup'
import type { SettingsSectionName } from '@/features/settings/settings-dialog'
import { useT } from '@/features/shared/surface'
import type { SessionCard } from '@/system/rows/model'
import { NEW_SESSION } from '@/system/workbench/workbench'
import { useComposer, useFirstTurn } from '../composer/use-composer'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'
import { ImportOffer } from './import-offer'

/** The view without a session. Sending input creates one. */
export function FirstView(props: {
  readonly sessions: readonly SessionCard[]
  readonly folder: string
  readonly sample: boolean
  readonly inputRef: Ref<HTMLTextAreaElement>
  readonly onSettings: (section: SettingsSectionName) => void
}) {
  const t = useT()
  const { workbench, drafts, settings, imports } = useServices()
  useSignal(settings.changes)
  useEffect(() => {
    if (settings.view.models === null) void settings.readModels()
  }, [settings])
  useSignal(workbench.notices.changes)
  useSignal(workbench.outbox.changes)
  const chosen = useFirstTurn()
  const composer = useComposer(NEW_SESSION, chosen)
  const open = workbench.workspaceId !== ''
  useSignal(imports.changes)
  const others = new Set(imports.view.list?.sessions.map((session) => session.sessionId ?? ''))
  return (
    <FirstPage
      subtitle={
        open
          ? t(`first.subtitle.${chosen.settings.permissionMode}`, { folder: props.folder })
          : t('first.no_folder_hint', { command: 'callboard' })
      }
      modelsOffer={
        <ModelSetup
          models={workbench.meta?.models ?? []}
          list={settings.view.models}
          tested={settings.view.tested}
          onConnect={async (detected, model) => {
            const refusal = await settings.connect(detected, model)
            if (refusal !== null) return workbench.notices.addRefusal(refusal)
            await workbench.refreshMeta()
            // The next step is to type an objective.
            document.querySelector('textarea')?.focus()
          }}
          onSettings={() => props.onSettings('models')}
        />
      }
      sample={props.sample}
      demos={workbench.meta?.demos ?? []}
      sessions={props.sessions.filter((session) => !others.has(session.sessionId))}
      importOffer={<ImportOffer />}
      others={others.size > 0}
      onDemo={(name) => void workbench.startDemo(name)}
      onOpen={(sessionId) => workbench.openSession(sessionId)}
      onPrompt={(text) => {
        drafts.set(NEW_SESSION, text)
        document.querySelector('textarea')?.focus()
      }}
      composer={
        <div className="space-y-2">
          {workbench.outbox.listEntries('').map((entry) => (
            <SentEntry
              key={entry.id}
              entry={entry}
              onSendAgain={(again) => void workbench.resend(again)}
              onDiscard={(entry) => workbench.outbox.drop(entry.id)}
            />
          ))}
          <NoticeList notices={workbench.notices.list} onDismiss={(id) => workbench.notices.dismiss(id)} />
          <Composer
            {...composer}
            busy={false}
            placeholder={t('composer.placeholder_new', { folder: props.folder })}
            disabledBecause={open ? null : t('first.no_folder')}
            inputRef={props.inputRef}
          />
        </div>
      }
    />
  )
}
