import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app'
import { makeServices } from './app/services'
import { browserStorage } from './system/local/values'
import './main.css'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element with the id "root"')

const services = makeServices((input, init) => fetch(input, init), browserStorage(), document.documentElement)
await services.language.begin(navigator.languages)

createRoot(root).render(
  <StrictMode>
    <App services={services} />
  </StrictMode>,
)
