import type { SettingsView } from '@/system/stores/settings-store'
import { IconButton } from '@/ui/button'
import { useT } from '../shared/surface'
import { type Entry, listConnectedModels, Section } from './settings-section'

/** The models to use, in order, if the chosen model fails permanently. */
export function FallbackModels(props: {
  readonly view: SettingsView
  readonly onWrite: (changes: Entry) => Promise<unknown>
}) {
  const t = useT()
  const { read, models } = props.view
  const value = read?.values.fallback
  const order = Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : []
  const names = [...new Set(listConnectedModels(models).map((model) => model.provider))]
  const remaining = names.filter((name) => !order.includes(name))
  const write = (fallback: readonly string[]) => void props.onWrite({ fallback })
  const swap = (a: number, b: number) => {
    const next = [...order]
    const [first, other] = [order[a], order[b]]
    if (first === undefined || other === undefined) return
    next[a] = other
    next[b] = first
    write(next)
  }
  if (names.length < 2 && order.length === 0) return null
  return (
    <Section title={t('settings.fallback')} hint={t('settings.fallback_help')}>
      <ol aria-label={t('settings.fallback')} className="list-inside list-decimal">
        {order.map((name, index) => (
          <li key={name} className="flex min-h-7 items-center gap-1">
            <span className="tabular w-5 text-ink-faint">{index + 1}</span>
            <span className="wrap-any min-w-0 flex-1 font-medium">{name}</span>
            <IconButton
              icon="arrowUp"
              label={t('settings.move_up', { name })}
              disabled={index === 0}
              onClick={() => swap(index, index - 1)}
            />
            <IconButton
              icon="arrowDown"
              label={t('settings.move_down', { name })}
              disabled={index === order.length - 1}
              onClick={() => swap(index, index + 1)}
            />
            <IconButton
              icon="close"
              label={t('settings.remove_of', { name })}
              onClick={() => write(order.filter((other) => other !== name))}
            />
          </li>
        ))}
      </ol>
      {remaining.length > 0 && (
        <select
          aria-label={t('settings.fallback_add')}
          value=""
          onChange={(event) => write([...order, event.target.value])}
          className="h-7 rounded-md border border-line-strong bg-paper px-1"
        >
          <option value="">{t('settings.fallback_add')}</option>
          {remaining.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Section>
  )
}
