import cronstrue from 'cronstrue'
import 'cronstrue/locales/zh_CN'
import { useT } from '../shared/surface'

/**
 * A cron line as text; unchanged if it cannot be parsed. Loaded on demand, because few schedules
 * use cron.
 */
export default function CronText({ line }: { line: string }) {
  const t = useT()
  const words = describeCron(line, t.locale)
  if (words === null) return <span className="font-mono">{line}</span>
  return <span title={line}>{t('team.background.cron', { words })}</span>
}

function describeCron(line: string, locale: string): string | null {
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
