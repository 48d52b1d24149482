/** What the address names: a session, or the first page. */
export interface Route {
  readonly sessionId: string | null
}

const SESSION = /^#\/s\/([A-Za-z0-9_.:-]+)$/

export function readRoute(hash: string): Route {
  return { sessionId: SESSION.exec(hash)?.[1] ?? null }
}

export function writeRoute(route: Route): string {
  return route.sessionId === null ? '#/' : `#/s/${route.sessionId}`
}
