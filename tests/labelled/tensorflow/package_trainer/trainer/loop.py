import tensorflow as tf


class Trainer:
    def __init__(self, model, device):
        self.model = model
        self.device = device
        self.losses = []

    @tf.function
    def step(self, x, y):
        with tf.device(self.device):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.model(x) - y))
            grads = tape.gradient(loss, self.model.variables)
            for variable, grad in zip(self.model.variables, grads):
                variable.assign_sub(0.01 * grad)
        return loss

    def train(self, batches):
        for x, y in batches:
            parts = [self.step(x, y), self.step(x, y)]
            self.losses.append(sum(part.numpy() for part in parts))  # expect: host-sync
        return self.losses
