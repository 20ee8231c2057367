"""Work on three devices of the host in many ways, for what is foreseen to be held to what is recorded."""

# mypy: ignore-errors
import tensorflow as tf

HOST = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(HOST, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("/CPU:1"):
    first = tf.Variable(tf.random.normal([16, 32]), name="first")
    table = tf.Variable(tf.random.normal([100, 16]), name="table")
with tf.device("/CPU:2"):
    second = tf.Variable(tf.random.normal([32, 8]), name="second")
scale = tf.Variable(tf.ones([8]), name="scale")
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def activated(x):
    return tf.nn.relu(x) * 2.0


@tf.function
def train_step(ids, labels):
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, ids)
        with tf.device("/CPU:1"):
            hidden = activated(tf.matmul(rows, first))
        with tf.device("/CPU:2"):
            scores = tf.matmul(hidden, second)
        scores = scores * scale
        for _ in tf.range(2):
            scores = scores * 1.5
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
    variables = [first, second, scale]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


@tf.function
def evaluate(x):
    with tf.device("/CPU:1"):
        near = tf.matmul(x, first)
    return tf.argmax(tf.matmul(near, second), axis=1)


for _ in range(8):
    with tf.device("/CPU:2"):
        features = tf.random.normal([64, 16])
    ids = tf.random.uniform([64], 0, 100, tf.int64)
    labels = tf.random.uniform([64], 0, 8, tf.int64)
    loss = train_step(ids, labels)
    with tf.device("/CPU:1"):
        found = evaluate(features)
        mean = tf.reduce_mean(tf.cast(found, tf.float32))
    with tf.device("/CPU:2"):
        together = mean + loss
    print(float(together), float(tf.reduce_sum(features + 1.0)))
    with tf.device("/CPU:1"):
        tf.nn.relu(second)  # read by TensorFlow's C code, which calls nothing that could be hooked
