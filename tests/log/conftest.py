import pytest

pytest.register_assert_rewrite("tests.log.suite", "tests.log.samples")
