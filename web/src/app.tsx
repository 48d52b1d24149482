export function App() {
  return <h1>Callboard</h1>
}
