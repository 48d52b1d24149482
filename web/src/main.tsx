import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app'
import { createServices } from './app/services'
import { loadSession } from './app/session/load-session'
import { readBrowser } from './system/access/browser'
import { PageAccess } from './system/access/page-access'
import { sendByRequest } from './system/api/upload'
import { getBrowserStorage } from './system/local/local-values'
import { readRoute } from './system/local/route'
import './main.css'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element with the id "root".')

// Redeem and remove the code in the address before reading the route.
const access = new PageAccess(readBrowser())
const services = createServices(
  access.fetch,
  getBrowserStorage(),
  document.documentElement,
  sendByRequest(() => access.getHeaders()),
  (command, body) => access.confirm(command, body),
)
access.changes.subscribe(() => services.workbench.resumeSignedIn())
// Keep an idle page signed in.
setInterval(() => void services.workbench.refreshMeta(), 60 * 60 * 1000)
// Request the data before rendering, so that the server answers while the browser builds the page.
const { workspaceId, sessionId } = readRoute(window.location.hash)
void services.workbench.begin(workspaceId ?? services.values.read('workspace'))
if (sessionId !== null) {
  services.workbench.openSession(sessionId)
  void loadSession()
}
await services.language.begin(navigator.languages)

createRoot(root).render(
  <StrictMode>
    <App services={services} />
  </StrictMode>,
)
