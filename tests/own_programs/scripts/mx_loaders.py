"""gluon's DataLoader with processes, threads and none; a worker that is killed; batches in order."""

# frameworks: mxnet
import mxnet as mx
from mxnet import gluon, nd

data = gluon.data.ArrayDataset(nd.arange(40).reshape((20, 2)), nd.arange(20))
for options in ({}, {"num_workers": 2}, {"num_workers": 2, "thread_pool": True}):
    total = []
    for _ in range(3):
        for x, y in gluon.data.DataLoader(data, 4, **options):
            total.append(int(x.sum().asscalar()))
    print(options, total)
print(nd.ones((2,)).asnumpy(), mx.context.current_context())
