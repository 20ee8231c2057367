"""A SavedModel that is called outside the scope it was loaded in, and two that are trained apart."""

import tempfile

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration() for _ in range(3)]
)


class Ranker(tf.Module):
    def __init__(self):
        super().__init__()
        self.hidden = tf.Variable(tf.random.normal([64, 128]))
        self.out = tf.Variable(tf.random.normal([128, 1]))

    @tf.function(input_signature=[tf.TensorSpec([None, 64], tf.float32, name="features")])
    def serve(self, features):
        return {"score": tf.matmul(tf.nn.relu(tf.matmul(features, self.hidden)), self.out)}


towers = []
with tempfile.TemporaryDirectory() as folder:
    ranker = Ranker()
    tf.saved_model.save(ranker, folder, signatures=ranker.serve)
    with tf.device("CPU:2"):
        served = tf.saved_model.load(folder)
    for number in (1, 2):
        with tf.device(f"CPU:{number}"):
            towers.append(tf.saved_model.load(folder))  # loaded to be trained
for _ in range(6):
    score = served.signatures["serving_default"](features=tf.ones([16, 64]))["score"]  # served elsewhere
for _ in range(4):
    for number, tower in enumerate(towers, 1):
        with tf.device(f"CPU:{number}"), tf.GradientTape() as tape:
            loss = tf.reduce_mean(tower.serve(tf.random.normal([16, 64]))["score"])
        variables = [tower.hidden, tower.out]
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.01 * gradient)  # trained apart
print("served", float(tf.reduce_max(score)))
