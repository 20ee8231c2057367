"""A training loop of one's own under MirroredStrategy, which finds one CPU here and all GPUs there.

https://github.com/tensorflow/tensorflow/issues/42701: "each GPU gets a copy of the model, and then computes the
forwards and backwards pass"; all variables get mirrored.

case: preflight

An expert: each GPU has a replica with its own copy of the variables; that the strategy found a CPU here must not be
taken for a request for one. Only the loss that is taken in each step waits.
"""

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((20,)), tf.keras.layers.Dense(50), tf.keras.layers.Dense(5)])
    optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(x, y):
    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return strategy.reduce("SUM", strategy.run(replica, (x, y)), None)


for _ in range(8):
    loss = train_step(tf.random.normal((64, 20)), tf.random.normal((64, 5)))
    print(float(loss))  # expect: host-sync
