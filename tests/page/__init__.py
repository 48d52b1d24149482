"""Browser tests of the page. One browser serves the whole package."""
