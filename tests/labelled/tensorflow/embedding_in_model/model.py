import tensorflow as tf


class Classifier(tf.keras.Model):
    def __init__(self, vocabulary, width, classes, device):
        super().__init__()
        self.device = device
        with tf.device("CPU:0"):  # the table is large
            self.embedding = tf.keras.layers.Embedding(vocabulary, width)
            self.embedding.build((None, None))
        with tf.device(device):
            self.head = tf.keras.layers.Dense(classes)
            self.head.build((None, width))

    def call(self, ids):
        with tf.device(self.device):
            vectors = self.embedding(ids)  # expect: variable-home
            return self.head(tf.reduce_mean(vectors, axis=1))
