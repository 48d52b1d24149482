import { useEffect, useState } from 'react'
import { IconButton } from './button'

export function CopyButton(props: { readonly text: string; readonly label: string; readonly done: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    void navigator.clipboard?.writeText(props.text).then(() => setCopied(true))
  }
  return (
    <IconButton icon={copied ? 'check' : 'copy'} label={copied ? props.done : props.label} onClick={copy} />
  )
}
