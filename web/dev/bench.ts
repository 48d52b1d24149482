/** A workbench on a fake server, for tests. */
import { expect, vi } from 'vitest'
import { ApiClient } from '../src/system/api/client'
import type { Op } from '../src/system/generated/contracts'
import { createId } from '../src/system/ids'
import { Drafts } from '../src/system/local/drafts'
import { LocalValues } from '../src/system/local/local-values'
import { Workbench } from '../src/system/workbench/workbench'
import { FakeServer, type Scenario } from './fake-server'
import { buildSessionRow, buildWorkspaceRow, upsert } from './rows'

export function buildShell(id: string): Op {
  return upsert('session', buildSessionRow({ key: id, sessionId: id, title: id }))
}

export function createBench(scenario: Partial<Scenario>) {
  const server = new FakeServer({
    workspace: [upsert('workspaces', buildWorkspaceRow())],
    sessions: {},
    ...scenario,
  })
  const drafts = new Drafts(new LocalValues(null))
  const calls: string[] = []
  const fetch: typeof server.fetch = (path, init) => {
    calls.push(path)
    return server.fetch(path, init)
  }
  const workbench = new Workbench(new ApiClient(fetch, () => createId('key')), drafts)
  return { server, drafts, workbench, calls }
}

export async function startLive(workbench: Workbench, id: string): Promise<void> {
  workbench.openSession(id)
  await vi.waitFor(() => expect(workbench.active?.feed.connection).toBe('live'))
}
