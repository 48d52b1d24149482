import { useState } from 'react'

/** An image with a text that is shown if the browser cannot decode it. */
export function Image(props: {
  readonly address: string
  readonly alt: string
  readonly broken: string
  readonly className?: string
}) {
  const [broken, setBroken] = useState(false)
  if (broken) return <span className="text-ink-faint">{props.broken}</span>
  return (
    <img
      src={props.address}
      alt={props.alt}
      decoding="async"
      onError={() => setBroken(true)}
      className={`max-w-full rounded-md border border-line bg-sunken object-contain ${props.className ?? ''}`}
    />
  )
}
