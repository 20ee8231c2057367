"""A Gluon training step, hybridized: Python calls the network as one graph, on one stand-in."""

import mx_gluon
import stopwatch

stopwatch.run(mx_gluon.make_step(32, 96, hybrid=True))
