/** The page on made-up rows, for looking at it without a server: `npm run dev`, then /dev/?scenario=NAME. Never built. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from '../src/app/app'
import { makeServices } from '../src/app/services'
import '../src/main.css'
import { FakeServer } from './fake-server'
import { SCENARIOS } from './scenarios/scenarios'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element with the id "root"')

const asked = new URLSearchParams(window.location.search)
const make = SCENARIOS[asked.get('scenario') ?? 'done'] ?? SCENARIOS.done
if (make === undefined) throw new Error('there is no such scenario')
const server = new FakeServer(make())
server.play()

const services = makeServices(server.fetch, window.localStorage, document.documentElement)
await services.language.begin(navigator.languages)
if (server.openAtFirst !== null && window.location.hash === '')
  window.location.hash = `#/s/${server.openAtFirst}`

createRoot(root).render(
  <StrictMode>
    <App services={services} />
  </StrictMode>,
)
