import type { SettingsProblem } from '@/system/generated/contracts'
import { Icon } from '@/ui/icon'
import { SettingsProblemText } from '../shared/settings-problem'
import { useT } from '../shared/surface'

/** Invalid settings files, and what applies until they are fixed. */
export function SettingsProblems({ problems }: { readonly problems: readonly SettingsProblem[] }) {
  const t = useT()
  return problems.map((problem) => (
    <section
      key={`${problem.file} ${problem.field} ${problem.message}`}
      aria-label={t('settings.invalid')}
      className="mx-auto mt-2 flex w-[calc(100%-40px)] max-w-[780px] shrink-0 items-start gap-2.5 rounded-lg border border-warn/60 bg-surface px-3.5 py-2.5 max-sm:w-[calc(100%-24px)]"
    >
      <Icon name="warning" className="mt-0.5 text-warn" />
      <div className="min-w-0 flex-1">
        <h2 className="font-semibold">{t('settings.invalid')}</h2>
        <p className="wrap-any">
          <SettingsProblemText problem={problem} />
        </p>
        <p className="text-sm text-ink-faint">
          {t(problem.keepsLast === true ? 'settings.keeps_last' : 'settings.asks_all')}
        </p>
      </div>
    </section>
  ))
}
