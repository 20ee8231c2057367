"""Where a model's ops go when the code names no device at all.

What to expect: nothing in this program names a device. TensorFlow does not spread the ops over the GPUs that
it sees: each op without a device goes to the default device, which is gpu:0 where TensorFlow sees a GPU and
cpu:0 where it does not. A second GPU stays empty, however many there are; but TensorFlow takes almost all
memory of every card that it may see, unless memory grows as needed, as it does here. So hide the cards
that a program does not use, and give several work by a strategy or by tf.device.

On a machine with GPUs some ops go elsewhere for a reason of their own: the input pipeline is on the host, and
so are ops that have no GPU kernel; with soft placement, the default in eager code, those move to the host
without a word.

With --visible 1 TensorFlow may see the first device only, and nothing changes but the list of devices.

On stand-ins the default device is the host: cpu:1 to cpu:N are devices like any other to TensorFlow, but it
puts an op there only when told. What crosses in a training step is then nothing; on a GPU it is the images
(batch x pixels x 4 bytes) and the labels (batch x 4 bytes), from the pipeline on the host.
"""

# mypy: allow-untyped-decorators

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress
from tf_shared import devices

LEARNING_RATE = 0.1


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-default-placement", __doc__)
    parser.add_argument(
        "--visible",
        type=devices.positive,
        metavar="N",
        help="how many of the devices, the first ones, TensorFlow may see (default: all)",
    )
    return parser


def see(parser: devices.Parser, args: Any) -> list[str]:
    """Let TensorFlow see the first devices only, where that is asked for, and return those it has."""
    import tensorflow as tf

    cards = tf.config.list_physical_devices("GPU")
    named = args.devices or [f"cpu:{n + 1}" for n in range(args.stand_ins or 0)]
    count = len(named) or len(cards)
    if args.visible and 0 < count < args.visible:
        parser.error(f"--visible {args.visible} is more than the {count} devices there are")
    if args.visible and args.stand_ins:
        args.stand_ins, args.devices = args.visible, None
    elif args.visible:
        # TensorFlow numbers those that it may see anew, from gpu:0.
        wanted = {f"gpu:{n}": card for n, card in enumerate(cards)}
        unknown = [name for name in named[: args.visible] if name not in wanted]
        if unknown:
            parser.error(f"there is no device {unknown[0]}: TensorFlow has {', '.join(wanted) or 'no GPU'}")
        seen = [wanted[name] for name in named[: args.visible]] if named else cards[: args.visible]
        tf.config.set_visible_devices(seen, "GPU")
        args.devices = None
    for card in tf.config.get_visible_devices("GPU"):
        tf.config.experimental.set_memory_growth(card, True)
    chosen: list[str] = devices.set_up(parser, args)
    return chosen


def main() -> None:
    """Train without a device's name, and say how well and where the weights are."""
    parser = options()
    args = devices.parse(parser)
    import tensorflow as tf

    chosen = see(parser, args)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    tf.keras.utils.set_random_seed(args.seed)

    dataset = tf.data.Dataset.from_tensor_slices((images[:train], labels[:train]))
    dataset = dataset.shuffle(train, seed=args.seed).repeat().batch(args.batch, drop_remainder=True)
    model = tf.keras.Sequential(
        [
            tf.keras.Input(images.shape[1:]),
            tf.keras.layers.Dense(args.width, activation="relu"),
            tf.keras.layers.Dense(args.width, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(LEARNING_RATE)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(jit_compile=args.jit_compile == "on")
    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    print(f"no device named, beside {', '.join(chosen)}; {train} {source}", flush=True)
    watch = progress.Progress(args.steps, args.log_every)
    for step, batch in enumerate(dataset.take(args.steps), 1):
        loss = train_step(*batch)
        if watch.due(step):
            watch.report(step, float(loss))

    predictions = np.argmax(model(images[train:]), axis=1)
    print(
        f"accuracy {np.mean(predictions == labels[train:]):.3f} on {len(predictions)} held-out digits",
        flush=True,
    )
    places = Counter(tf.convert_to_tensor(variable).device for variable in model.trainable_variables)
    told = (f"{count} on {place.rpartition('device:')[2].lower()}" for place, count in places.items())
    print(f"weights: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
