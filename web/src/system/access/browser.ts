/** The parts of this browser that `PageAccess` uses. */
import type { Browser, Channel } from './page-access'

export function readBrowser(): Browser {
  return {
    fetch: (input, init) => fetch(input, init),
    storage: tabStorage(),
    hash: () => window.location.hash,
    replaceHash: (hash) => window.history.replaceState(null, '', `${window.location.pathname}${hash}`),
    channel: channel(),
    crypto: window.crypto,
  }
}

function tabStorage(): Storage | null {
  try {
    return window.sessionStorage
  } catch {
    return null
  }
}

/** A channel reaches the tabs of this origin only, port included. */
function channel(): Channel | null {
  return typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('callboard.access')
}
