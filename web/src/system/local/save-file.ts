/** Save bytes as a file. A download link could not carry the page's credential. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads the URL after this task.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
