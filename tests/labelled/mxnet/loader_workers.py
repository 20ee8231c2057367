"""A DataLoader with worker processes, and batches copied to the device in the loop.

https://github.com/apache/mxnet/issues/11243

The batch is needed on the device, the copy is asked for and MXNet does it while the step before still runs.
An expert would find nothing to change.
"""

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon.data import dataset
from mxnet.gluon.data.vision import transforms

ctx = mx.cpu(1)


class ImgDataSet(dataset.Dataset):
    def __getitem__(self, idx):
        return mx.nd.random.uniform(0, 255, shape=(40, 40, 3)).astype("uint8"), idx % 10

    def __len__(self):
        return 128


transformer = transforms.Compose([transforms.Resize(32), transforms.ToTensor()])
train_dataset = ImgDataSet().transform_first(transformer)
train_data_loader = gluon.data.DataLoader(train_dataset, 16, shuffle=True, num_workers=2)

net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(8, 3, strides=2, activation="relu"), gluon.nn.GlobalAvgPool2D(), gluon.nn.Dense(10))
net.initialize(ctx=ctx)
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "adam")
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
for data, label in train_data_loader:
    data = data.as_in_context(ctx)  # expect: info explicit
    label = label.as_in_context(ctx)
    with autograd.record():
        loss = loss_fn(net(data), label)
    loss.backward()
    trainer.step(16)
mx.nd.waitall()
