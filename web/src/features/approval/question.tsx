import { visibleText } from '@/system/format/ansi'
import type { AskedChange } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'
import type { ActionRow } from '@/system/rows/model'
import { useT } from '../shared/surface'

/**
 * What is asked, in the page's words where the row tells what they need. The server's own text stands there for the rest:
 * where it says more than the row, such as what makes a call risky, it is never left out.
 */
export function Question({ action }: { action: ActionRow }) {
  const t = useT()
  const ordinary = action.change !== null && action.policy === 'ask' && action.risk !== 'high'
  const own = ownWords(t, action, ordinary)
  const told = action.prompt !== '' && !ordinary ? visibleText(action.prompt) : null
  const translated = own !== null && told !== null
  return (
    <>
      {own !== null && <p className="wrap-any">{own}</p>}
      {told !== null && (
        <p lang="en" className={`wrap-any whitespace-pre-wrap ${translated ? 'text-sm text-ink-soft' : ''}`}>
          {told}
        </p>
      )}
    </>
  )
}

/** To an English reader the server's text, where it stands there, says what these words would. */
function ownWords(t: Translate, action: ActionRow, ordinary: boolean): string | null {
  const { change } = action
  const told = !ordinary && action.prompt !== '' && t.locale.startsWith('en')
  if (change !== null) return told && change.differs !== false ? null : changeWords(t, change)
  return action.tool === 'Bash' && !told ? t('action.ask.command') : null
}

function changeWords(t: Translate, change: AskedChange): string {
  const path = visibleText(change.path)
  if (change.differs === false) return t('action.ask.same', { path })
  const { added = null, removed = null } = change
  if (change.creates) {
    return added === null
      ? t('action.ask.create', { path })
      : t.count('action.ask.create_lines', added, { path })
  }
  if (added === null || removed === null) return t('action.ask.change', { path })
  return t('action.ask.change_lines', { path, added, removed })
}

/** What the session's permission means, in a sentence; a policy of another kind is named. */
export function Policy({ policy }: { policy: string }) {
  const t = useT()
  if (policy === '') return null
  return (
    <p className="text-sm text-ink-faint">
      {t.maybe(`action.policy.${policy}`) ?? t('action.policy', { policy })}
    </p>
  )
}
