/** What the address names: a session, the first page of a folder, or nothing yet. */
export interface Route {
  readonly workspaceId: string | null
  readonly sessionId: string | null
}

const PLACE = /^#\/([ws])\/([A-Za-z0-9_.:-]+)$/

export function readRoute(hash: string): Route {
  const [, kind, id = null] = PLACE.exec(hash) ?? []
  return { workspaceId: kind === 'w' ? id : null, sessionId: kind === 's' ? id : null }
}

/** A session says by itself which folder it belongs to. */
export function writeRoute(route: Route): string {
  if (route.sessionId !== null) return `#/s/${route.sessionId}`
  return route.workspaceId === null ? '#/' : `#/w/${route.workspaceId}`
}
