"""What is logged is kept for the test that fails, and nothing of it comes out on its own."""

import logging


def test_only_pytest_keeps_what_is_logged() -> None:
    """No handler writes to the terminal, where it would come out between the results and after the summary."""
    writing = [handler for handler in logging.getLogger().handlers if type(handler) is logging.StreamHandler]
    assert writing == []
    assert not logging.getLogger("sqlalchemy.engine").isEnabledFor(logging.INFO)
