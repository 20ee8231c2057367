"""What the server's log says of messages that are none."""

from __future__ import annotations

import logging

import h11
import pytest

from app.server import OneLine


def test_a_message_that_cannot_be_read_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("tests.one-line")
    logger.addFilter(OneLine())
    try:
        raise ValueError("wire format was corrupt")
    except ValueError as error:
        logger.warning("Error %s", "deserializing", exc_info=error)
        logger.error("This failed", exc_info=error)
    refused, failed = caplog.records
    assert (refused.getMessage(), refused.exc_info) == ("Error deserializing: wire format was corrupt", None)
    assert failed.exc_info is not None


def test_a_request_that_breaks_off_is_one_line_and_no_error(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("tests.one-line")
    logger.addFilter(OneLine())
    try:
        raise h11.LocalProtocolError("can't handle event type Response")
    except h11.LocalProtocolError as error:
        logger.error("Exception in ASGI application\n", exc_info=error)
    (dropped,) = caplog.records
    assert dropped.levelno == logging.WARNING
    assert dropped.getMessage() == "A malformed request was dropped: can't handle event type Response"
    assert dropped.exc_info is None
