"""Boxes are selected, cropped and scaled on the card, as ops of a model that names no device.

https://github.com/tensorflow/tensorflow/issues/7511: "non_max_suppression is very slow and doesn't appear to have
a cuda or multi-threaded implementation".

case: preflight

An expert: it has had one since, as have crop_and_resize and resize; the sizes that they keep in the host's memory
are constants. Nothing to warn of.
"""

import tensorflow as tf

kernel = tf.Variable(tf.random.normal((3, 3, 3, 8), stddev=0.1), name="kernel")


@tf.function
def regions(image, boxes, scores):
    chosen = tf.image.non_max_suppression(boxes, scores, max_output_size=16, iou_threshold=0.5)
    picked = tf.gather(boxes, chosen)
    crops = tf.image.crop_and_resize(image, picked, tf.zeros_like(chosen), (24, 24))
    found = tf.nn.conv2d(tf.image.resize(crops, (16, 16)), kernel, 1, "SAME")
    kernel.assign_sub(0.001 * tf.reduce_mean(found) * kernel)


image = tf.random.uniform((1, 96, 96, 3))
corners = tf.random.uniform((64, 2), maxval=0.5)
boxes = tf.concat([corners, corners + 0.4], axis=1)
scores = tf.random.uniform((64,))
for _ in range(8):
    regions(image, boxes, scores)
