"""A subclassed Keras model in a module of its own keeps its Embedding on the host.

https://github.com/tensorflow/tensorflow/pull/544 put the embeddings of word2vec on the CPU;
https://github.com/tensorflow/tensorflow/issues/44194 tells what that costs where it is not needed.

An expert: the layer's table is on the host and is read from the card in each step, in the model's `call`.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

from model import Classifier

model = Classifier(vocabulary=500, width=32, classes=5, device="CPU:1")
with tf.device("CPU:1"):
    optimizer = tf.keras.optimizers.SGD(0.05)
    optimizer.build(model.trainable_variables)
    ids = tf.random.uniform((16, 12), maxval=500, dtype=tf.int64)
    labels = tf.random.uniform((16,), maxval=5, dtype=tf.int64)


@tf.function
def train_step(ids, labels):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            logits = model(ids)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        grads = tape.gradient(loss, model.trainable_variables)  # may: variable-home
        optimizer.apply_gradients(zip(grads, model.trainable_variables))  # may: variable-home
    return loss


for _ in range(8):
    train_step(ids, labels)
