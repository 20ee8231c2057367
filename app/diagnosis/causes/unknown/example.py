"""Code that has the cause `unknown`."""

from __future__ import annotations

from app.diagnosis.example import Example

EXAMPLE = Example(
    framework="tensorflow",
    about="A callable of a session, which shows nothing of its ops.",
    before="""\
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    with tf.device("GPU:0"):
        w = tf.compat.v1.get_variable("w", (64, 64))
        update = w.assign(w * 0.9).op
    session.run(w.initializer)
    step = session.make_callable(update)
    for _ in range(10):
        step()
""",
    after="""\
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    with tf.device("GPU:0"):
        w = tf.compat.v1.get_variable("w", (64, 64))
        update = w.assign(w * 0.9).op
    session.run(w.initializer)
    for _ in range(10):
        session.run(update)
""",
)
