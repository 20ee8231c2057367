"""Keras trains on the card by a loss of the code's own, whose table of class weights is made before the scope.

https://github.com/keras-team/keras/issues/2115 is about losses that weigh their classes so.

An expert: the table lies on the host, so the classes go there at each step, and the rows that are looked up come
back to the card for the loss. The line that looks them up is to be told, not `fit`, whose gradients need the
rows too but find them on the card. Make the loss, and with it its table, in the card's scope.
"""

import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
CLASSES = 10


class ClassWeighted(tf.keras.losses.Loss):
    def __init__(self, weights):
        super().__init__()
        self.table = tf.Variable(weights, trainable=False, dtype=tf.float32)

    def call(self, y_true, y_pred):
        entropy = tf.keras.losses.sparse_categorical_crossentropy(y_true, y_pred, from_logits=True)
        classes = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
        return entropy * tf.gather(self.table, classes)  # expect: variable-home; may: colocation


rng = np.random.default_rng(1)
x = rng.normal(size=(320, 64)).astype("float32")
y = rng.integers(0, CLASSES, size=320).astype("int32")
loss = ClassWeighted(np.linspace(0.5, 2.0, CLASSES))

with tf.device("CPU:1"):
    model = tf.keras.Sequential(
        [tf.keras.Input((64,)), tf.keras.layers.Dense(128, "relu"), tf.keras.layers.Dense(CLASSES)]
    )
    model.compile(optimizer="adam", loss=loss)
    history = model.fit(x, y, batch_size=32, epochs=2, verbose=0)
print(history.history["loss"])
