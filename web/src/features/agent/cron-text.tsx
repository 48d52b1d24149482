import cronstrue from 'cronstrue'
import 'cronstrue/locales/zh_CN'
import { useT } from '../shared/surface'

/** What a line of cron means; one that cannot be read stands as it is. Apart from the rest, since few schedules are one. */
export default function CronWords({ line }: { line: string }) {
  const t = useT()
  const words = inWords(line, t.locale)
  if (words === null) return <span className="font-mono">{line}</span>
  return <span title={line}>{t('team.background.cron', { words })}</span>
}

function inWords(line: string, locale: string): string | null {
  try {
    return cronstrue.toString(line, {
      locale: locale.startsWith('zh') ? 'zh_CN' : 'en',
      use24HourTimeFormat: true,
      verbose: false,
    })
  } catch {
    return null
  }
}
