import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, expect, test } from 'vitest'
import { clearStorage, findComposer, openPage } from '../../../dev/app-page'
import { RefusedAnswer } from '../../../dev/fake-server'
import { SESSION } from '../../../dev/rows'

beforeEach(clearStorage)

/** A server that accepts turns in a home folder only after an approval. */
async function openHomeFolder() {
  let wide = false
  return openPage(
    {
      answers: {
        submit_turn: (body) =>
          wide
            ? { sessionId: SESSION, threadId: 'thr_a', turnId: body.turnId, status: 'started', sequence: 3 }
            : new RefusedAnswer(422, {
                code: 'folder_too_broad',
                message: '/home/ann is your home.',
                field: 'wide',
              }),
        open_workspace: (body) => {
          wide = String(body.wide) === 'true'
          return { workspaceId: 'wks_a', path: body.path, name: 'ann', sequence: 1 }
        },
      },
    },
    `#/s/${SESSION}`,
  )
}

test('a dialog explains a home folder before its use, and an approval sends the message (X6)', async () => {
  const { server } = await openHomeFolder()
  await userEvent.type(await findComposer(), 'Tidy up{Enter}')
  const dialog = await screen.findByRole('dialog', { name: 'Open this folder?' })
  expect(within(dialog).getByText(/Agents could read and change everything/)).toBeTruthy()
  expect(server.requests.map((request) => request.name)).toEqual(['submit_turn'])
  await userEvent.click(within(dialog).getByRole('button', { name: 'Open anyway' }))
  await waitFor(() =>
    expect(server.requests.map((request) => request.name)).toEqual([
      'submit_turn',
      'open_workspace',
      'submit_turn',
    ]),
  )
  expect(server.requests[1]?.body).toMatchObject({ wide: true })
  expect(server.requests[2]?.body).toEqual(server.requests[0]?.body)
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('without an approval the folder is not opened, and the page shows the reason (X6)', async () => {
  const { server, services } = await openHomeFolder()
  await services.language.choose('zh')
  await userEvent.type(await screen.findByRole('textbox'), 'Tidy up{Enter}')
  const dialog = await screen.findByRole('dialog', { name: '打开此文件夹？' })
  await userEvent.click(within(dialog).getByRole('button', { name: '取消' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(server.requests.map((request) => request.name)).toEqual(['submit_turn'])
  expect(services.workbench.notices.list.map((notice) => notice.code)).toEqual(['folder_too_broad'])
})
