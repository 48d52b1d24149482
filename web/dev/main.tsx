/**
 * The page on sample rows, without a server: `npm run dev`, then /dev/?scenario=NAME. It is never
 * built.
 */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from '../src/app/app'
import { createServices } from '../src/app/services'
import '../src/main.css'
import { FakeServer } from './fake-server'
import { SCENARIOS } from './scenarios/scenarios'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element with the id "root"')

const query = new URLSearchParams(window.location.search)
const make = SCENARIOS[query.get('scenario') ?? 'done'] ?? SCENARIOS.done
if (make === undefined) throw new Error('there is no such scenario')
const server = new FakeServer(make())
server.play()

const services = createServices(server.fetch, window.localStorage, document.documentElement)
await services.language.begin(navigator.languages)
if (server.openAtFirst !== null && window.location.hash === '')
  window.location.hash = `#/s/${server.openAtFirst}`

createRoot(root).render(
  <StrictMode>
    <App services={services} />
  </StrictMode>,
)
