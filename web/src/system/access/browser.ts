/** The parts of this browser that `PageAccess` uses. */
import type { Browser, Channel } from './page-access'

export function readBrowser(): Browser {
  return {
    fetch: (input, init) => fetch(input, init),
    storage: getTabStorage(),
    readHash: () => window.location.hash,
    replaceHash: (hash) => window.history.replaceState(null, '', `${window.location.pathname}${hash}`),
    channel: openChannel(),
    crypto: window.crypto,
  }
}

function getTabStorage(): Storage | null {
  try {
    return window.sessionStorage
  } catch {
    return null
  }
}

/** A channel reaches the tabs of this origin only, port included. */
function openChannel(): Channel | null {
  return typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('callboard.access')
}
