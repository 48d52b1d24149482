"""Services that carry out commands outside of the writer of a stream."""
