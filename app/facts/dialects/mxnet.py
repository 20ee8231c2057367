"""MXNet, with Gluon and Module."""

from __future__ import annotations

from app.facts.dialects.dialect import Dialect

DIALECT = Dialect(
    name="mxnet",
    host_device="context",
    counted_by_calls=("ops of hybridized blocks", "graphs of executors"),
)
