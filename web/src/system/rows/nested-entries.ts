/** Structures inside rows, with every field present. */
import type * as wire from '../generated/contracts'

export interface Text {
  readonly text: string
  readonly ref: wire.BlobRef | null
  readonly erased: boolean
}

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly durationMs: number
  readonly modelCalls: number
  readonly toolCalls: number
}

/** The schedule and sleep of a background agent. Times are in microseconds; 0 means none. */
export interface Background {
  readonly state: wire.BackgroundWork['state']
  readonly taskId: string
  readonly schedule: string
  readonly wakeAt: number
  readonly wakeOn: readonly string[]
  readonly wakeReason: NonNullable<wire.BackgroundWork['wakeReason']> | null
  readonly wokeAt: number
  readonly lastRun: string
  readonly lastRunStatus: wire.RunRow['status'] | null
}

/** An artifact that a remote agent delivered. */
export interface Delivery {
  readonly artifactId: string
  readonly name: string
  readonly description: string
  readonly at: number
  readonly parts: readonly {
    readonly media: string
    readonly name: string
    readonly text: Text
    readonly content: wire.BlobRef | null
    readonly url: string
  }[]
}

/** A remote agent's card and the state of its newest task. */
export interface Remote {
  readonly url: string
  readonly name: string
  readonly version: string
  readonly card: Text
  readonly taskId: string
  readonly taskState: NonNullable<wire.RemoteWork['taskState']> | null
  readonly message: Text
  readonly toldAt: number
  readonly artifacts: readonly Delivery[]
}

export interface Attempt {
  readonly runId: string
  readonly status: wire.RunRow['status']
  readonly detail: string
  readonly number: number
  readonly agentId: string
  readonly started: number
  readonly ended: number
}

/** One version of an artifact. Ids are empty if no agent created it. `at` is in microseconds. */
export interface Version {
  readonly version: number
  readonly content: wire.BlobRef
  readonly versionOrigin: wire.VersionEntry['versionOrigin']
  readonly at: number
  readonly base: number
  readonly restores: number
  readonly added: number
  readonly removed: number
  readonly agentId: string
  readonly turnId: string
  readonly toolCallId: string
}

/** One export of an artifact. It has no content while it is running, and a code if it failed. */
export interface Export {
  readonly export: string
  readonly version: number
  readonly form: string
  readonly artifacts: number
  readonly everything: boolean
  readonly done: number
  readonly total: number
  readonly name: string
  readonly content: wire.BlobRef | null
  readonly leftOut: number
  readonly code: string
  readonly message: string
}

export const NO_TEXT: Text = { text: '', ref: null, erased: false }

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, durationMs: 0, modelCalls: 0, toolCalls: 0 }

export function readText(text: wire.Text | null | undefined): Text {
  return { text: text?.text ?? '', ref: text?.ref ?? null, erased: text?.erased ?? false }
}

export function readBackground(work: wire.BackgroundWork | null | undefined): Background | null {
  if (work === null || work === undefined) return null
  return {
    schedule: '',
    wakeAt: 0,
    wakeOn: [],
    wokeAt: 0,
    lastRun: '',
    ...work,
    wakeReason: work.wakeReason ?? null,
    lastRunStatus: work.lastRunStatus ?? null,
  }
}

export function readRemote(work: wire.RemoteWork | null | undefined): Remote | null {
  if (work === null || work === undefined) return null
  return {
    name: '',
    version: '',
    taskId: '',
    toldAt: 0,
    ...work,
    card: readText(work.card),
    message: readText(work.message),
    taskState: work.taskState ?? null,
    artifacts: (work.artifacts ?? []).map((artifact) => ({
      name: '',
      description: '',
      at: 0,
      ...artifact,
      parts: (artifact.parts ?? []).map((part) => ({
        name: '',
        url: '',
        ...part,
        text: readText(part.text),
        content: part.content ?? null,
      })),
    })),
  }
}

export function readAttempts(attempts: readonly wire.AttemptRow[] | undefined): readonly Attempt[] {
  return (attempts ?? []).map((attempt) => ({
    detail: '',
    number: 0,
    agentId: '',
    started: 0,
    ended: 0,
    ...attempt,
  }))
}

export function readVersions(versions: readonly wire.VersionEntry[] | undefined): readonly Version[] {
  return (versions ?? []).map((version) => ({
    base: 0,
    restores: 0,
    added: 0,
    removed: 0,
    agentId: '',
    turnId: '',
    toolCallId: '',
    ...version,
  }))
}

export function readExports(exports: readonly wire.ExportEntry[] | undefined): readonly Export[] {
  return (exports ?? []).map((entry) => ({
    artifacts: 1,
    everything: false,
    done: 0,
    total: 0,
    name: '',
    leftOut: 0,
    code: '',
    message: '',
    ...entry,
    content: entry.content ?? null,
  }))
}
