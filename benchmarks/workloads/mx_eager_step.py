"""A Gluon training step of many small ops, each one called by Python, on one stand-in."""

import mx_gluon
import stopwatch

stopwatch.run(mx_gluon.make_step(32, 64, hybrid=False))
