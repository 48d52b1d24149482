import type { ButtonHTMLAttributes, Ref } from 'react'
import { Icon, type IconName } from './icon'

type Look = 'quiet' | 'outline' | 'solid' | 'danger'

const LOOKS: Record<Look, string> = {
  quiet: 'text-ink-soft hover:bg-hover hover:text-ink',
  outline: 'border border-line-strong text-ink hover:bg-hover',
  solid: 'bg-accent text-accent-ink hover:brightness-110',
  danger: 'border border-bad/40 text-bad hover:bg-bad-soft',
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: Look
  readonly icon?: IconName
  readonly ref?: Ref<HTMLButtonElement>
}

export function Button({ look = 'quiet', icon, className = '', children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`inline-flex h-7 items-center gap-1.5 rounded-md px-2.5 font-medium whitespace-nowrap transition-colors disabled:pointer-events-none disabled:opacity-45 ${LOOKS[look]} ${className}`}
      {...rest}
    >
      {icon && <Icon name={icon} size={14} />}
      {children}
    </button>
  )
}

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'aria-label'> {
  readonly icon: IconName
  readonly label: string
  readonly ref?: Ref<HTMLButtonElement>
}

export function IconButton({ icon, label, className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`inline-flex size-7 shrink-0 items-center justify-center rounded-md text-ink-soft transition-colors hover:bg-hover hover:text-ink disabled:pointer-events-none disabled:opacity-40 ${className}`}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  )
}
