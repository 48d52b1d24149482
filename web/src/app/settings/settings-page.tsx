/** The settings, loaded on demand. */
import { useEffect, useMemo } from 'react'
import SettingsDialog, { type SettingsSectionName } from '@/features/settings/settings-dialog'
import type { SettingsHandlers } from '@/features/settings/settings-section'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

export default function SettingsPage(props: {
  readonly section: SettingsSectionName
  readonly onClose: () => void
}) {
  const { workbench, settings, trust } = useServices()
  useSignal(settings.changes)
  useSignal(trust.changes)
  const { workspaceId } = workbench
  useEffect(() => {
    void settings.open('user', workspaceId)
    void trust.refresh(workspaceId)
  }, [settings, trust, workspaceId])
  const handlers = useMemo<SettingsHandlers>(
    () => ({
      onPlace: (place) => {
        if (place !== settings.view.place) void settings.open(place, workspaceId)
      },
      onReload: () => void settings.open(settings.view.place, workspaceId),
      onWrite: async (changes) => {
        const refusal = await settings.write(changes)
        // The change may affect the models, or the permissions that a folder requests.
        if (refusal === null) await Promise.all([workbench.refreshMeta(), trust.refresh(workspaceId)])
        return refusal
      },
      onStoreSecret: (name, value) => settings.storeSecret(name, value),
      onTest: (name) => void settings.testModel(name),
      onAddRule: (rule) => settings.addRule(rule),
      onRevokeRule: (ruleId) => settings.revokeRule(ruleId),
      onTryRules: (rules) => settings.tryRules(rules),
      onReconnect: (server) => settings.reconnect(server),
      onTrust: () => {
        const trustRead = trust.get(workspaceId)
        return workbench.attempt(async () => (trustRead === null ? null : await trust.trust(trustRead)))
      },
      onRevokeTrust: () => workbench.attempt(() => trust.revoke(workspaceId)),
    }),
    [settings, trust, workbench, workspaceId],
  )
  const folder = workbench.meta?.workspaces.find((workspace) => workspace.workspaceId === workspaceId)
  return (
    <SettingsDialog
      view={settings.view}
      trust={trust.get(workspaceId)}
      folder={folder?.path ?? ''}
      section={props.section}
      handlers={handlers}
      onClose={props.onClose}
    />
  )
}
