/** Tones of states. The text always has the same meaning as the colour. */

import type { SessionState } from '@/system/generated/contracts'
import type { NotificationRow, RemoteStatusPart, RunRow } from '@/system/rows/model'
import type { Tone } from '@/ui/marks'

export const NOTIFICATION_TONES: Readonly<Record<NotificationRow['status'], Tone>> = {
  completed: 'good',
  failed: 'bad',
  needs_input: 'warn',
  ready_for_review: 'warn',
  cancelled: 'quiet',
  interrupted: 'quiet',
}

export const RUN_TONES: Readonly<Record<RunRow['status'], Tone>> = {
  running: 'accent',
  completed: 'good',
  failed: 'bad',
  cancelled: 'quiet',
}

export const REMOTE_TONES: Readonly<Record<RemoteStatusPart['taskState'], Tone>> = {
  submitted: 'accent',
  working: 'accent',
  input_required: 'warn',
  auth_required: 'warn',
  completed: 'good',
  failed: 'bad',
  canceled: 'quiet',
  rejected: 'bad',
  unknown: 'quiet',
}

/** Tones of session states. */
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
