"""The metric."""

import mxnet as mx
import numpy as np


class ErrorRate(mx.metric.EvalMetric):
    def __init__(self):
        super().__init__("error_rate")

    def update(self, labels, preds):
        for label, pred in zip(labels, preds):
            label = label.asnumpy()
            pred = pred.asnumpy()  # expect: host-sync
            self.sum_metric += np.sum(pred.argmax(axis=1) != label)
            self.num_inst += len(label)
