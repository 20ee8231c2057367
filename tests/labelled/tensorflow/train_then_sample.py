"""A small language model is trained quietly; then it writes a text, a character at a time.

https://www.tensorflow.org/text/tutorials/text_generation: train, then run the model in a loop to sample.

An expert: the training is fine. Each round of the sampling takes the new character to Python, only to send it
back as the next input: keep it on the device, and take the text once at the end.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
LETTERS = "abcdefgh"

with tf.device("CPU:1"):
    table = tf.Variable(tf.random.normal((8, 16)))
    output = tf.Variable(tf.random.normal((16, 8)))
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build([table, output])
    pairs = tf.random.uniform((64, 2), maxval=8, dtype=tf.int64)


@tf.function
def logits_of(tokens):
    with tf.device("CPU:1"):
        return tf.tanh(tf.gather(table, tokens)) @ output


@tf.function
def step():
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(pairs[:, 1], logits_of(pairs[:, 0]))
            )
        optimizer.apply_gradients(zip(tape.gradient(loss, [table, output]), [table, output]))


for _ in range(20):
    with tf.device("CPU:1"):
        step()

text, token = "a", 0
for _ in range(24):
    with tf.device("CPU:1"):
        drawn = tf.random.categorical(logits_of(tf.constant([token])), 1)
    token = int(drawn[0, 0])  # expect: host-sync
    text += LETTERS[token]
print(text)
