"""Past sessions of other coding agents, read from their transcripts. Transcripts are never changed."""
