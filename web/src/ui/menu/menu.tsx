import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { MenuProps } from './open-menu'

const OpenMenu = lazy(() => import('./open-menu'))

/** A menu under a button. What it is made of is loaded when one is opened for the first time. */
export function Menu(props: MenuProps): ReactNode {
  const [wanted, setWanted] = useState(false)
  if (!wanted) {
    return (
      <span className="inline-flex" onClickCapture={() => setWanted(true)}>
        {props.trigger}
      </span>
    )
  }
  return (
    <Suspense fallback={props.trigger}>
      <OpenMenu {...props} />
    </Suspense>
  )
}
