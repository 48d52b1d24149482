"""One session: its host, its decision inputs and what its effects share."""
