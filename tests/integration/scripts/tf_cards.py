"""Which cards TensorFlow's GPUs are, by its own list and the recorder's; the eager context stays down."""

import json
import sys

import tensorflow as tf
from tensorflow.python.eager import context

from probes.tf.devices import cards_of, cuda_ordinal
from probes.trace.cards import card_facts

physical = tf.config.list_physical_devices("GPU")
if len(sys.argv) > 1:
    tf.config.set_visible_devices([physical[int(place)] for place in sys.argv[1].split(",")], "GPU")
told = [tf.config.experimental.get_device_details(card)["device_name"] for card in physical]
cards = [card.name for card in cards_of(context.context())]
found = [card_facts(cuda_ordinal(name)) for name in cards]
print(
    json.dumps({"physical": [card.name for card in physical], "names": told, "cards": cards, "facts": found})
)
