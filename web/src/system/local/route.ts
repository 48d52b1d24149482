/** The target of the address: a session, the first page of a workspace, or neither. */
export interface Route {
  readonly workspaceId: string | null
  readonly sessionId: string | null
}

const PLACE = /^#\/([ws])\/([A-Za-z0-9_.:-]+)$/

export function readRoute(hash: string): Route {
  const [, kind, id = null] = PLACE.exec(hash) ?? []
  return { workspaceId: kind === 'w' ? id : null, sessionId: kind === 's' ? id : null }
}

/** A session id needs no workspace id: the server knows the workspace of a session. */
export function writeRoute(route: Route): string {
  if (route.sessionId !== null) return `#/s/${route.sessionId}`
  return route.workspaceId === null ? '#/' : `#/w/${route.workspaceId}`
}
