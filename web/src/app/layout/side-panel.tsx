import type { ReactNode } from 'react'
import { useT } from '@/features/shared/surface'
import type { Panel } from './use-layout'

/** A panel beside the conversation, or over it on a narrow page. */
export function SidePanel(props: {
  readonly panel: Panel
  readonly side: 'left' | 'right'
  readonly label: string
  /** Wider, for reading texts. */
  readonly wide?: boolean
  readonly children: ReactNode
}) {
  const t = useT()
  const { panel, side } = props
  if (!panel.open) return null
  const left = side === 'left'
  const width = left ? 'w-[264px]' : props.wide ? 'w-[min(680px,46vw)]' : 'w-[376px]'
  const border = left ? 'border-r' : 'border-l'
  if (panel.fits)
    return (
      <aside aria-label={props.label} className={`${width} ${border} shrink-0 border-line`}>
        {props.children}
      </aside>
    )
  return (
    <div className="fixed inset-0 z-30 flex">
      <button
        type="button"
        aria-label={t('app.close')}
        onClick={panel.hide}
        className={`absolute inset-0 bg-black/30 ${left ? '' : 'order-first'}`}
      />
      <aside
        aria-label={props.label}
        className={`relative ${props.wide ? 'w-full max-w-[760px]' : `max-w-[88vw] ${width}`} ${border} border-line bg-paper shadow-xl ${left ? '' : 'ml-auto'}`}
      >
        {props.children}
      </aside>
    </div>
  )
}
