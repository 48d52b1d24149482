/** The whole page on a fake server, for tests. */
import { render, screen } from '@testing-library/react'
import { App } from '@/app/app'
import { createServices } from '@/app/services'
import { FakeServer, type Scenario } from './fake-server'
import { buildCardRow, buildSessionRow, buildStatusRow, buildWorkspaceRow, SESSION, upsert } from './rows'

/** Reset the browser: no stored values, and no session in the address. */
export function clearStorage() {
  window.localStorage.clear()
  window.history.replaceState(null, '', '/')
}

export async function openPage(scenario: Partial<Scenario>, hash = '') {
  window.history.replaceState(null, '', `/${hash}`)
  const server = new FakeServer({
    workspace: [upsert('workspaces', buildWorkspaceRow()), upsert('sessions', buildCardRow(SESSION, 900))],
    sessions: { [SESSION]: [upsert('session', buildSessionRow()), upsert('status', buildStatusRow())] },
    ...scenario,
  })
  const services = createServices(server.fetch, window.localStorage, document.documentElement)
  await services.language.begin(['en'])
  render(<App services={services} />)
  return { server, services }
}

export const findComposer = () => screen.findByRole('textbox', { name: 'Message' })
