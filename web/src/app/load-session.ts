/** What shows a session, apart from the rest of the page: the first page needs none of it. */
export const loadSession = async () => ({ default: (await import('./active-session')).ActiveSession })
