"""The TensorFlow programs' lessons."""

from __future__ import annotations

from app.lessons.lesson import Lesson, Variant

_ONE_PROCESS = (
    Lesson(
        "tf-pin-model",
        (
            Variant("pinned", steps=3),
            Variant("all-memory", {"memory-growth": "off"}, steps=3, devices=("gpu:0",), extra=True),
        ),
        "Build the model inside tf.device, not only fit it there: a variable stays where it was made. On a "
        "GPU that you share, call tf.config.experimental.set_memory_growth(gpu, True) before anything else.",
    ),
    Lesson(
        "tf-visible-order",
        (
            Variant("set-visible-devices", {"by": "set-visible-devices"}, steps=3),
            Variant("cuda-visible-devices", {"by": "cuda-visible-devices"}, steps=3),
        ),
        "To choose which card gpu:0 is, set CUDA_VISIBLE_DEVICES, best to UUIDs, before TensorFlow is "
        "imported; tf.config.set_visible_devices only hides cards.",
    ),
    Lesson(
        "tf-default-placement",
        (Variant("default", steps=3),),
        "Do not expect a second GPU to be used because it is there: name it with tf.device, or use a "
        "tf.distribute strategy, and hide the GPUs that a program does not need.",
    ),
    Lesson(
        "tf-pin-gradients",
        (
            Variant("outside", {"gradients": "outside"}, steps=3),
            Variant("inside", {"gradients": "inside"}, steps=3),
        ),
        "Call tape.gradient and optimizer.apply_gradients inside the same tf.device as the forward pass.",
    ),
    Lesson(
        "tf-pin-replica-gradients",
        (Variant("default", steps=3),),
        "With a model a device made by hand, call each tape.gradient under its own tf.device; if they "
        "are to be one model, sum the gradients in every step, as tf.distribute.MirroredStrategy does.",
    ),
    Lesson(
        "tf-model-parallel",
        (Variant("even", steps=3),),
        "Cut the model where the tensor between two layers is small, and give neighbouring layers to "
        "devices that have a direct link: what crosses there crosses twice in each step.",
    ),
    Lesson(
        "tf-mirrored",
        (
            Variant("default", {"loop": "custom"}, steps=3),
            Variant("one-device", {"loop": "custom", "cross-device-ops": "reduction-to-one-device"}, steps=3),
            Variant("hierarchical", {"loop": "custom", "cross-device-ops": "hierarchical-copy"}, steps=3),
            Variant("nccl", {"loop": "custom", "cross-device-ops": "nccl"}, steps=3, extra=True),
        ),
        "Make the model and the optimizer inside strategy.scope() and leave placement to the strategy; with "
        "linked GPUs pass cross_device_ops=tf.distribute.NcclAllReduce().",
    ),
    Lesson(
        "tf-central-storage",
        (Variant("default", steps=3),),
        "Take CentralStorageStrategy only where the weights do not fit on each card: every step sends all of "
        "them from the host and the gradients back, where MirroredStrategy sends gradients alone.",
    ),
    Lesson(
        "tf-no-kernel",
        (
            Variant("angle", {"op": "angle"}, steps=3),
            Variant("on-a-gpu", {"op": "fractional-max-pool"}, steps=3, devices=("gpu:0",), extra=True),
            Variant("xla-cpu", {"op": "fractional-max-pool", "scope": "xla-cpu"}, stand_ins=1, steps=3),
        ),
        "Call tf.config.set_soft_device_placement(False) once: an op without a GPU kernel then raises "
        "instead of moving to the host. Replace it, or move it to where its data already is.",
    ),
)

_PROCESSES = (
    Lesson(
        "tf-multiworker",
        (
            Variant("two-workers", {"workers": 2}, steps=3),
            Variant("three-workers", {"workers": 3}, steps=3),
        ),
        "Start every worker with the same script and its own TF_CONFIG, make MultiWorkerMirroredStrategy "
        "before any other call of TensorFlow, and make the batch larger with each worker.",
    ),
    Lesson(
        "tf-multiworker-checkpoint",
        (
            Variant("first", {"checkpoint-every": 4, "log-every": 1}, steps=6),
            Variant("resumed", {"checkpoint-every": 4, "log-every": 1}, steps=8, resumes="first"),
        ),
        "Let all workers call save, the chief into the folder that counts and the others into one that they "
        "delete, and save the step's number too, so that a resumed run takes the images that come next.",
    ),
    Lesson(
        "tf-parameter-server",
        (Variant("default", steps=3),),
        "Use ParameterServerStrategy where a model's variables do not fit on one worker, not to split its "
        "computation: each step still pulls every variable and pushes every gradient.",
    ),
)

_TIMED = (
    Lesson(
        "tf-mirrored-uneven",
        (Variant("both"),),
        "Give replicas of unequal speed shares of the batch that fit their speeds, and divide the sum of "
        "the losses by the whole batch, so that each image counts the same.",
    ),
    Lesson(
        "tf-host-sync",
        (Variant("all"),),
        "Keep the loss in a tf.keras.metrics.Mean that the step updates, and read result() every hundred "
        "steps or so; loss.numpy(), float(loss) and print(loss) all wait for the device.",
    ),
    Lesson(
        "tf-input-pipeline",
        (Variant("all"),),
        "Feed the model from tf.data and end the pipeline with "
        "apply(tf.data.experimental.prefetch_to_device(device)): the next batch is there when a step begins.",
    ),
)

LESSONS = (*_ONE_PROCESS, *_PROCESSES, *_TIMED)
