import type { Translate } from '@/system/i18n/translate'
import type { Line } from '@/system/selectors/team'

/** Describe a line of the graph. */
export function describeLine(t: Translate, { edge, source, target }: Line): string {
  const suffix = edge.direction === 'both' ? '_both' : ''
  const ends = { source: source.name, target: target.name }
  return t.find(`team.line.${edge.edgeType}${suffix}`, ends) ?? t(`team.line.${edge.edgeType}`, ends)
}
