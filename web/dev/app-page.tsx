/** The whole page on a fake server, for tests. */
import { render, screen } from '@testing-library/react'
import { App } from '@/app/app'
import { createServices } from '@/app/services'
import { FakeServer, type Scenario } from './fake-server'
import { cardRow, SESSION, sessionRow, statusRow, upsert, workspaceRow } from './rows'

/** Reset the browser: no stored values, and no session in the address. */
export function clean() {
  window.localStorage.clear()
  window.history.replaceState(null, '', '/')
}

export async function page(scenario: Partial<Scenario>, hash = '') {
  window.history.replaceState(null, '', `/${hash}`)
  const server = new FakeServer({
    workspace: [upsert('workspaces', workspaceRow()), upsert('sessions', cardRow(SESSION, 900))],
    sessions: { [SESSION]: [upsert('session', sessionRow()), upsert('status', statusRow())] },
    ...scenario,
  })
  const services = createServices(server.fetch, window.localStorage, document.documentElement)
  await services.language.begin(['en'])
  render(<App services={services} />)
  return { server, services }
}

export const message = () => screen.findByRole('textbox', { name: 'Message' })
