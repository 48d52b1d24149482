"""The effects of a turn: model calls, tool calls and summaries."""
