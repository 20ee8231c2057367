import numpy as np
import tensorflow as tf


class WeightWatcher(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.norms = []

    def on_train_batch_end(self, batch, logs=None):
        kernel = self.model.layers[0].get_weights()[0]  # expect: host-sync
        self.norms.append(np.linalg.norm(kernel))
