"""SavedModel, keras and HDF5-free checkpoints: what is saved, loaded and computed; file names and modes."""

# frameworks: tensorflow
import os
import shutil

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)


class Module(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[2.0]])

    @tf.function(input_signature=[tf.TensorSpec((None, 1), tf.float32)])
    def __call__(self, x):
        return x @ self.w


tf.saved_model.save(Module(), "module")
loaded = tf.saved_model.load("module")
print(loaded(tf.ones((1, 1))).numpy(), sorted(loaded.signatures))
from tensorflow.core.protobuf import saved_model_pb2

with open("module/saved_model.pb", "rb") as file:
    graph = saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs[0].graph_def
print([node.name for node in graph.node], [function.signature.name for function in graph.library.function])
print([attr for node in graph.node for attr in node.attr if "hop" in attr])
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
model.compile("adam", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 2)), verbose=0)
model.save("model.keras")
model.export("exported", verbose=False)
print(
    np.allclose(
        keras.models.load_model("model.keras").predict(np.ones((1, 2)), verbose=0),
        model.predict(np.ones((1, 2)), verbose=0),
    )
)
manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), "checkpoints", 2)
print([manager.save() for _ in range(3)])
for folder, _, names in sorted(os.walk(".")):
    print(folder, [(name, oct(os.stat(os.path.join(folder, name)).st_mode)) for name in sorted(names)])
for name in ("module", "exported", "checkpoints"):
    shutil.rmtree(name)
os.remove("model.keras")
