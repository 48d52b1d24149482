/** The name and state of a tool server. */
import { stripTerminalCodes } from '@/system/format/ansi'
import type { ServerState } from '@/system/generated/contracts'
import { Dot, type Tone } from '@/ui/marks'
import { useT } from './surface'

const TONES: Readonly<Record<NonNullable<ServerState['condition']>, Tone>> = {
  idle: 'quiet',
  connecting: 'accent',
  connected: 'good',
  lost: 'bad',
}

export function ServerName({ name, state }: { name: string; state: ServerState | null }) {
  const t = useT()
  const condition = state?.condition ?? 'idle'
  return (
    <>
      <Dot tone={state === null ? 'quiet' : TONES[condition]} active={condition === 'connecting'} />
      <span className="wrap-any font-medium">{name}</span>
      <span className="text-sm text-ink-faint">
        {state === null ? t('settings.server.not_held') : t(`settings.server.${condition}`)}
        {state !== null &&
          condition === 'connected' &&
          ` · ${t.count('settings.server_tools', state.tools ?? 0)}`}
        {state?.title
          ? ` · ${stripTerminalCodes(state.title)} ${stripTerminalCodes(state.version ?? '')}`
          : ''}
      </span>
    </>
  )
}

/** Why a server is lost, and which of its tools were rejected. */
export function ServerProblem({ state }: { state: ServerState }) {
  const t = useT()
  const lost = state.condition === 'lost'
  const refusals = state.refusals ?? []
  if (!lost && refusals.length === 0) return null
  return (
    <div className="space-y-1 pl-4">
      {lost && (
        <p className="wrap-any text-bad">
          {(state.code && t.find(`code.${state.code}`)) || t('settings.server.lost')}{' '}
          <span className="text-ink-soft">{stripTerminalCodes(state.message ?? '')}</span>
        </p>
      )}
      {lost && state.said && (
        <pre className="wrap-any max-h-32 overflow-y-auto rounded-md bg-sunken px-2 py-1 font-mono text-xs whitespace-pre-wrap">
          {stripTerminalCodes(state.said)}
        </pre>
      )}
      {refusals.map((reason) => (
        <p key={reason} className="wrap-any text-sm text-warn">
          {stripTerminalCodes(reason)}
        </p>
      ))}
    </div>
  )
}
