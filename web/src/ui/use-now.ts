import { useEffect, useState } from 'react'

/** The current time in milliseconds, updated every `interval` milliseconds while `running`. */
export function useNow(interval: number, running = true): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!running) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), interval)
    return () => clearInterval(timer)
  }, [interval, running])
  return now
}
