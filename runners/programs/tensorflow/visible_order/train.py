"""Which card /GPU:0 is: tf.config.set_visible_devices against CUDA_VISIBLE_DEVICES.

What to expect: TensorFlow numbers the GPUs that it may see from /GPU:0 on, but not in the order in which
set_visible_devices was given them: it goes through all physical devices in their own order and keeps those
that are in the list. So the list chooses which cards are used, and cannot choose which one is /GPU:0.
CUDA_VISIBLE_DEVICES can: CUDA itself numbers the cards in the order in which that names them, before
TensorFlow sees them, as long as it is set before TensorFlow starts.

This program names the devices forwards or backwards, keeps some of them, by one way or the other, and trains
the same model on /GPU:0 each time. TensorFlow says on which card that is when it makes the device: in its
log, "Created device /job:localhost/replica:0/task:0/device:GPU:0 .. pci bus id: 0000:41:00.0". At its end the
program asks for the same.

    --order       the order in which the devices are named: backwards makes the difference visible
    --subset 1    keep only the first of those named; that card becomes /GPU:0, whatever its number was
    --by          who is told: set-visible-devices, or cuda-visible-devices
    --cuda-device-order
                  CUDA's own count: the fastest card first, which is its default, or by PCI bus id. It decides
                  only where CUDA_VISIBLE_DEVICES is not set or holds numbers, and not UUIDs.

Either can be done only once, at the start: afterwards TensorFlow refuses, and CUDA does not look again.

What crosses in a training step is the images (batch x pixels x 4 bytes) and the labels (batch x 4 bytes),
from the host to the one device.

On stand-ins there is nothing to put in order: set_visible_devices takes physical devices, and cpu:1 to cpu:N
are logical parts of a single one. The program tries it all the same, and says what TensorFlow answered.
"""

# mypy: allow-untyped-decorators

import itertools
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress, verdict
from tf_shared import devices

LEARNING_RATE = 0.1
BY = ("set-visible-devices", "cuda-visible-devices")
CUDA_ORDERS = {"fastest-first": "FASTEST_FIRST", "pci-bus-id": "PCI_BUS_ID"}


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-visible-order", __doc__)
    parser.add_argument(
        "--order",
        choices=("backwards", "forwards"),
        default="backwards",
        help="the order in which the devices are named (default: backwards)",
    )
    parser.add_argument(
        "--subset",
        type=devices.positive,
        metavar="N",
        help="how many devices to keep, the first ones in that order (default: all)",
    )
    parser.add_argument(
        "--by",
        choices=BY,
        default=BY[0],
        help="who is told of subset and order (default: set-visible-devices)",
    )
    parser.add_argument(
        "--cuda-device-order",
        choices=("unchanged", *CUDA_ORDERS),
        default="unchanged",
        help="CUDA's own count of the cards (default: leave CUDA_DEVICE_ORDER as it is)",
    )
    return parser


def in_order(args: Any, names: list[Any]) -> list[Any]:
    """Those of the devices that are to be kept, in the order in which they are to be named."""
    ordered = names[::-1] if args.order == "backwards" else names
    return ordered[: args.subset]


def tell_cuda(parser: devices.Parser, args: Any) -> None:
    """Set CUDA's variables. TensorFlow must not have been imported yet."""
    if args.cuda_device_order != "unchanged":
        os.environ["CUDA_DEVICE_ORDER"] = CUDA_ORDERS[args.cuda_device_order]
    if args.by != "cuda-visible-devices" or args.stand_ins:
        return
    if not args.devices:
        parser.error(
            "--by cuda-visible-devices needs --devices: before TensorFlow starts nobody counted the GPUs"
        )
    entries = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    # Each device's own entry, number or UUID; without the variable CUDA's numbers are TensorFlow's.
    own = dict(enumerate(entries.split(","))) if entries else {}
    numbers = [number(name) for name in args.devices]
    kept = [own.get(number, str(number)).strip() for number in in_order(args, numbers)]
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(kept)
    print(f"CUDA_VISIBLE_DEVICES={','.join(kept)}", flush=True)


def tell_tensorflow(parser: devices.Parser, args: Any) -> list[str]:
    """Make the chosen GPUs visible, and return all devices to train with: the first one is the model's."""
    import tensorflow as tf

    count = len(args.devices or ()) or args.stand_ins or len(tf.config.list_physical_devices("GPU"))
    if args.subset and 0 < count < args.subset:
        parser.error(f"--subset {args.subset} is more than the {count} devices there are")
    cards = {
        card.name.rpartition("device:")[2].lower(): card for card in tf.config.list_physical_devices("GPU")
    }
    if cards and not args.stand_ins and args.by == "set-visible-devices":
        names = args.devices or list(cards)
        for name in names:
            if name not in cards:
                parser.error(f"there is no device {name}: TensorFlow has {', '.join(cards)}")
        named = in_order(args, names)
        tf.config.set_visible_devices([cards[name] for name in named], "GPU")
        print(f"set_visible_devices: {', '.join(named)}", flush=True)
    for card in tf.config.get_visible_devices("GPU"):
        tf.config.experimental.set_memory_growth(card, True)
    if not args.stand_ins:
        args.devices = None  # they are numbered anew
    chosen: list[str] = devices.set_up(parser, args)
    return chosen


def say_order(named: list[str]) -> None:
    """Ask TensorFlow which of the cards it numbered gpu:0, gpu:1 .. and print whether that is as `named`."""
    from tensorflow.python.client import device_lib
    from tensorflow.python.eager import context

    # Of a device with the settings that TensorFlow runs with: "device: 1, name: .., pci bus id: ..", where
    # the number is CUDA's, which those of the physical devices are too.
    told = {
        device.name: device.physical_device_desc
        for device in device_lib.list_local_devices(context.context().config)
        if device.device_type == "GPU"
    }
    for name, description in told.items():
        print(f"{name.rpartition('device:')[2]} is {description}", flush=True)
    found = [re.search(r"device: (\d+)", told.get(f"/device:GPU:{n}", "")) for n in range(len(named))]
    became = [f"gpu:{match[1]}" for match in found if match]
    measured = (
        f"TensorFlow's GPU:0 to GPU:{len(named) - 1} are {', '.join(became) or 'unknown'}, where "
        f"set_visible_devices was given {', '.join(named)}"
    )
    if len(named) < 2:
        verdict.say_not_testable("a single device has no order", measured)
    elif named == sorted(named, key=number) or sorted(became) != sorted(named):
        verdict.say_not_testable("those cannot tell whether the order was kept", measured)
    else:
        verdict.say(became != named, measured)


def number(name: str) -> int:
    """2 for gpu:2."""
    return int(name.partition(":")[2])


def try_on_stand_ins(chosen: list[str]) -> None:
    """Ask TensorFlow to put stand-ins in order, and to hide one later; print what it answers."""
    import tensorflow as tf

    def answer(listed: list[Any]) -> str:
        try:
            tf.config.set_visible_devices(listed, "CPU")
        except (ValueError, RuntimeError) as error:
            return f"{type(error).__name__}: {str(error).partition(':')[0]}"
        return "no error"

    physical = tf.config.list_physical_devices("CPU")
    logical = [device for device in tf.config.list_logical_devices("CPU") if device.name[-1] != "0"]
    backwards, none = answer(logical[::-1]), answer([])
    print(
        f"TensorFlow's set_visible_devices answered {backwards} to those backwards, {none} to none",
        flush=True,
    )
    verdict.say_not_testable(
        f"{', '.join(chosen)} are parts of {len(physical)} CPU, and an order takes two GPUs",
        f"TensorFlow's set_visible_devices answered {backwards.partition(':')[0]}",
    )


def main() -> None:
    """Train on the first device, and say which one that is."""
    parser = options()
    args = devices.parse(parser)
    tell_cuda(parser, args)
    if not args.stand_ins:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"  # the log has the line "Created device .. pci bus id"
    import tensorflow as tf

    chosen = tell_tensorflow(parser, args)
    device = chosen[0]
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    units = [images.shape[1], args.width, args.width, 10]

    @tf.function  # so that shapes and seeds are constants there, and are not sent there one by one
    def first_weights() -> Any:
        return [
            (tf.random.stateless_normal([n, m], [args.seed, layer]) * (2 / n) ** 0.5, tf.zeros(m))
            for layer, (n, m) in enumerate(itertools.pairwise(units))
        ]

    with tf.device(device):
        layers = [(tf.Variable(kernel), tf.Variable(bias)) for kernel, bias in first_weights()]
        last_loss = tf.Variable(0.0)
    variables = [variable for layer in layers for variable in layer]

    def forward(x: Any) -> Any:
        for kernel, bias in layers[:-1]:
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernel), bias))
        kernel, bias = layers[-1]
        return tf.nn.bias_add(tf.matmul(x, kernel), bias)

    @tf.function(jit_compile=args.jit_compile == "on")
    def train_step(images: Any, labels: Any) -> None:
        with tf.device(device):
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, forward(images))
                loss = tf.reduce_mean(losses)
            gradients = tape.gradient(loss, variables)
            for variable, gradient in zip(variables, gradients, strict=True):
                variable.assign_sub(LEARNING_RATE * gradient)
            last_loss.assign(loss)

    @tf.function
    def predict(images: Any) -> Any:
        return tf.argmax(forward(images), axis=1)

    print(f"model on {device} of {', '.join(chosen)}; {train} {source}", flush=True)
    rng = np.random.default_rng(args.seed)
    watch = progress.Progress(args.steps, args.log_every)
    for step in range(1, args.steps + 1):
        rows = rng.integers(train, size=args.batch)
        with tf.device("cpu:0"):
            batch = tf.constant(images[rows]), tf.constant(labels[rows])
        with tf.device(device):
            train_step(*batch)
            if watch.due(step):
                watch.report(step, float(last_loss))

    with tf.device(device):
        predictions = predict(tf.constant(images[train:])).numpy()
    print(
        f"accuracy {np.mean(predictions == labels[train:]):.3f} on {len(predictions)} held-out digits",
        flush=True,
    )
    if args.stand_ins:
        try_on_stand_ins(chosen)
    elif args.by == "set-visible-devices":
        visible = tf.config.get_visible_devices("GPU")  # in the order in which they were named
        say_order([card.name.rpartition("device:")[2].lower() for card in visible])


if __name__ == "__main__":
    main()
