"""Seeded random ops, initial weights, dropout, shuffles and op seeds after many other ops."""

# frameworks: tensorflow
import keras
import numpy as np
import tensorflow as tf

tf.random.set_seed(5)
print(tf.random.uniform((3,)).numpy(), tf.random.normal((2,)).numpy())
for _ in range(300):
    tf.ones((2,)) * 3
print(tf.random.uniform((3,)).numpy(), tf.random.get_global_generator().normal((2,)).shape)


@tf.function
def drawn():
    return tf.random.uniform((2,)), tf.nn.dropout(tf.ones(4), 0.5)


print([one.numpy() for one in drawn()], [one.numpy() for one in drawn()])
print(list(tf.data.Dataset.range(10).shuffle(10).as_numpy_iterator()))
keras.utils.set_random_seed(1)
model = keras.Sequential(
    [keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
history = model.fit(np.ones((64, 3)), np.ones((64, 1)), epochs=2, batch_size=8, verbose=0)
print(
    [round(loss, 5) for loss in history.history["loss"]], model.name, [layer.name for layer in model.layers]
)
