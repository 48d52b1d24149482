"""What models receive: instructions, conversations, context and tools."""
