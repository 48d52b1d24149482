import { useState } from 'react'
import { PERMISSION_MODES, type PermissionMode, type TrustRead } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsView } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { RequestedPermissions } from '../shared/requested-permissions'
import { isFolderInvalid, SettingsProblemText } from '../shared/settings-problem'
import { useT } from '../shared/surface'
import type { SettingsHandlers } from './settings-section'
import { Section, SettingsRefusal } from './settings-section'

/** The default permission mode, and the trust in the folder's files. */
export function PermissionsSection(props: {
  readonly view: SettingsView
  readonly trust: TrustRead | null
  readonly handlers: SettingsHandlers
}) {
  const t = useT()
  const { view, handlers, trust } = props
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  // The user's settings omit defaults; a folder without a mode sets no limit.
  const unset = view.read !== null && view.place === 'user' ? 'ask' : undefined
  const effective = view.read?.holding.permission_mode ?? unset
  const mode = PERMISSION_MODES.find((mode) => mode === effective) ?? null
  const choose = async (next: PermissionMode) => setRefusal(await handlers.onWrite({ permission_mode: next }))
  return (
    <>
      <Section title={t('settings.mode')} hint={t(`settings.mode_help.${view.place}`)}>
        <fieldset className="space-y-1">
          <legend className="sr-only">{t('settings.mode')}</legend>
          {PERMISSION_MODES.map((value) => (
            <label key={value} className="flex items-start gap-2">
              <input
                type="radio"
                name="permission_mode"
                checked={mode === value}
                onChange={() => void choose(value)}
                className="mt-1"
              />
              <span>
                <span className="font-medium">{t(`composer.permission.${value}`)}</span>{' '}
                <span className="text-ink-soft">{t(`composer.permission.${value}_hint`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <SettingsRefusal refusal={refusal} onReload={handlers.onReload} />
      </Section>
      {trust !== null && (
        <FolderTrust trust={trust} onTrust={handlers.onTrust} onRevoke={handlers.onRevokeTrust} />
      )}
    </>
  )
}

/** The trust in the folder's files: its state, its requests, and the buttons to change it. */
export function FolderTrust(props: {
  readonly trust: TrustRead
  readonly onTrust: () => void
  readonly onRevoke: () => void
}) {
  const { trust } = props
  const t = useT()
  const isInvalid = isFolderInvalid(trust)
  const asks = trust.widenings.length > 0 && !isInvalid
  return (
    <Section title={t('trust.folder')} hint={t(`trust.state.${isInvalid ? 'invalid' : trust.state}`)}>
      <p className="wrap-any font-mono text-sm text-ink-faint">{trust.folder}</p>
      {asks && <RequestedPermissions widenings={trust.widenings} />}
      {trust.problems.map((problem) => (
        <p key={`${problem.file} ${problem.message}`} className="wrap-any text-warn">
          <SettingsProblemText problem={problem} />{' '}
          {t(problem.keepsLast === true ? 'settings.keeps_last' : 'settings.asks_all')}
        </p>
      ))}
      <div className="flex gap-2">
        {asks && trust.state !== 'trusted' && (
          <Button look="outline" onClick={props.onTrust}>
            {t('trust.trust')}
          </Button>
        )}
        {trust.trusted !== '' && (
          <Button look="danger" onClick={props.onRevoke}>
            {t('trust.revoke')}
          </Button>
        )}
      </div>
    </Section>
  )
}
