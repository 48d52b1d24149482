"""What an agent can do: the gate, path confinement, the sandbox and the tools themselves.

Every tool call of every agent in every mode passes the one gate.
"""
