"""A Keras model that is built and fitted inside tf.device of one chosen device.

What to expect: the weights, the forward and the backward pass, the optimizer's slots and the metrics are
all on that device, because Keras makes and traces all of them while the scope is open. That includes
the optimizer: Adam makes its two slots a weight when it first sees the weights, wherever that happens.
Here optimizer.build does it inside the scope, in plain sight.

The dataset is made outside the scope, so it stays on the host (cpu:0) as it would on a GPU, and what crosses
in a training step is the images (batch x pixels x 4 bytes) and the labels (batch x 4 bytes). Keras 3 also
reads two things after each step, with callbacks or without: whether there was a batch (1 byte), and its
running loss (4 bytes). Python waits for both.

On a GPU, memory growth makes TensorFlow take memory as it needs it. With --memory-growth off it takes
almost all of the card at the start. jit_compile is given explicitly, since Keras 3 turns XLA on by itself
where it sees a GPU, and then one compiled op hides where everything inside it runs.
"""

# mypy: allow-subclassing-any

import os
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress
from tf_shared import devices


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-pin-model", __doc__)
    devices.add_pinned_device(parser)
    parser.add_argument(
        "--memory-growth",
        choices=("on", "off"),
        default="on",
        help="GPUs only: take memory as needed, or almost all of the card at the start (default: on)",
    )
    parser.add_argument(
        "--keras",
        choices=("3", "2"),
        default="3",
        help="Keras 3, or the legacy Keras 2 of tf_keras (default: 3)",
    )
    return parser


def main() -> None:
    """Train, and say how well."""
    parser = options()
    args = devices.parse(parser)
    # Read when TensorFlow is imported. TensorFlow up to 2.15 has Keras 2 itself, and no need of tf_keras.
    legacy = args.keras == "2" and find_spec("tf_keras") is not None
    os.environ["TF_USE_LEGACY_KERAS"] = "1" if legacy else "0"
    import tensorflow as tf

    keras = getattr(tf.keras, "__version__", "2").partition(".")[0]  # Keras 2 does not always say
    if keras != args.keras:
        hint = "; install tf_keras beside it" if args.keras == "2" else ""
        parser.error(f"--keras {args.keras} is not here: TensorFlow {tf.__version__} has Keras {keras}{hint}")
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, args.memory_growth == "on")
    device = devices.pinned(parser, args, devices.set_up(parser, args))
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    tf.keras.utils.set_random_seed(args.seed)

    class Report(tf.keras.callbacks.Callback):
        """Prints the running loss, which Keras has already read."""

        watch = progress.Progress(args.steps, args.log_every)

        def on_train_batch_end(self, batch: int, logs: dict[str, float]) -> None:
            if self.watch.due(batch + 1):
                self.watch.report(batch + 1, logs["loss"])

    dataset = tf.data.Dataset.from_tensor_slices((images[:train], labels[:train]))
    dataset = dataset.shuffle(train, seed=args.seed).repeat().batch(args.batch, drop_remainder=True)

    print(f"model on {device}, Keras {args.keras}; {train} {source}", flush=True)
    with tf.device(device):
        model = tf.keras.Sequential(
            [
                tf.keras.Input(images.shape[1:]),
                tf.keras.layers.Dense(args.width, activation="relu"),
                tf.keras.layers.Dense(args.width, activation="relu"),
                tf.keras.layers.Dense(10),
            ]
        )
        optimizer = tf.keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        model.compile(
            optimizer,
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            jit_compile=args.jit_compile == "on",
        )
        model.fit(dataset, steps_per_epoch=args.steps, verbose=0, callbacks=[Report()])
        predictions = np.argmax(model.predict_on_batch(images[train:]), axis=1)
    print(f"accuracy {np.mean(predictions == labels[train:]):.3f} on {len(predictions)} held-out digits")
    for what, variables in ("weights", model.weights), ("optimizer variables", optimizer.variables):
        places = Counter(home(variable) for variable in variables)
        print(f"{what}: {', '.join(f'{count} on {place}' for place, count in places.items())}", flush=True)


def home(variable: Any) -> str:
    """The device that a variable lives on. Keras 3 wraps TensorFlow's variable in one of its own."""
    device: str = variable.device if hasattr(variable, "device") else variable.value.device
    return device.rpartition("device:")[2].lower()


if __name__ == "__main__":
    main()
