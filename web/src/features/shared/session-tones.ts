import type { SessionState } from '@/system/generated/contracts'
import type { Tone } from '@/ui/marks'

/** How each state of a session is marked, wherever it is shown. */
export const SESSION_TONES: Record<SessionState, Tone> = {
  idle: 'quiet',
  queued: 'accent',
  running: 'accent',
  waiting: 'warn',
  paused: 'warn',
  interrupted: 'quiet',
  failed: 'bad',
  lost: 'warn',
  damaged: 'bad',
}
