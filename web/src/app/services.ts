/** Services that live as long as the page. */
import { ApiClient, type Confirmation } from '@/system/api/client'
import type { Fetch, SendFile } from '@/system/api/upload'
import { LanguageChoice } from '@/system/i18n/languages'
import { createId } from '@/system/ids'
import { Drafts } from '@/system/local/drafts'
import { LocalValues } from '@/system/local/local-values'
import { ReadMarks } from '@/system/local/read-marks'
import { ThemeChoice } from '@/system/local/theme'
import { TurnChoices } from '@/system/local/turn-settings'
import { ArtifactStore } from '@/system/stores/artifact-store'
import { ImportStore } from '@/system/stores/import-store'
import { SettingsStore } from '@/system/stores/settings-store'
import { ToolStore } from '@/system/stores/tool-store'
import { TrustStore } from '@/system/stores/trust-store'
import { Workbench } from '@/system/workbench/workbench'

export interface Services {
  readonly values: LocalValues
  readonly drafts: Drafts
  readonly choices: TurnChoices
  readonly readMarks: ReadMarks
  readonly theme: ThemeChoice
  readonly language: LanguageChoice
  readonly workbench: Workbench
  readonly artifacts: ArtifactStore
  readonly trust: TrustStore
  readonly settings: SettingsStore
  readonly tools: ToolStore
  readonly imports: ImportStore
}

export function createServices(
  fetch: Fetch,
  storage: Storage | null,
  root: HTMLElement,
  sendFile?: SendFile,
  confirmation?: Confirmation,
): Services {
  const values = new LocalValues(storage)
  const drafts = new Drafts(values)
  const api = new ApiClient(fetch, () => createId('key'), sendFile, confirmation)
  return {
    values,
    drafts,
    choices: new TurnChoices(values),
    readMarks: new ReadMarks(values),
    theme: new ThemeChoice(values, root),
    language: new LanguageChoice(values, root),
    workbench: new Workbench(api, drafts),
    artifacts: new ArtifactStore(api, values),
    trust: new TrustStore(api, values),
    settings: new SettingsStore(api),
    tools: new ToolStore(api),
    imports: new ImportStore(api),
  }
}
