"""Copies of a net on two devices that are meant to differ: nothing here is to be mended.

https://github.com/apache/mxnet/issues/1827 asks how devices train copies of a model by hand; these are the
neighbours of that which exchange nothing on purpose.

An expert: searches over rates on the same batches, an ensemble of other starts, a target net that follows the
online one, averages every third step, workers that send their gradients to shared weights one after the other, and halves
of one model that share a loss.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

devices = [mx.cpu(1), mx.cpu(2)]
STEPS = 10


def pair(*seeds):
    nets = []
    for seed, device in zip(seeds, devices):
        mx.random.seed(seed)
        nets.append(gluon.nn.Dense(4, in_units=8))
        nets[-1].initialize(mx.init.Xavier(), ctx=device)
    return nets


def parameters(net):
    return net.collect_params().values()


def backward(net, x):
    with autograd.record():
        loss = nd.square(net(x) - x[:, :4]).mean()
    loss.backward()


def batches():
    for _ in range(STEPS):
        whole = nd.random.normal(shape=(16, 8))
        yield [whole.as_in_context(device) for device in devices]


def halves():
    for first, second in batches():
        yield first[:8], second[8:]


def searched_by_hand():
    nets = pair(3, 3)
    for batch in batches():
        for net, x, rate in zip(nets, batch, (0.1, 0.01)):
            backward(net, x)
            for parameter in parameters(net):
                parameter.data()[:] = parameter.data() - rate * parameter.grad()


def searched_with_trainers():
    nets = pair(3, 3)
    rates = (0.1, 0.01)
    trainers = [
        gluon.Trainer(net.collect_params(), "adam", {"learning_rate": rate}) for net, rate in zip(nets, rates)
    ]
    for batch in batches():
        for net, x, trainer in zip(nets, batch, trainers):
            backward(net, x)
            trainer.step(1)


def ensemble():
    nets = pair(3, 4)
    trainers = [gluon.Trainer(net.collect_params(), "sgd") for net in nets]
    for batch in halves():
        for net, x, trainer in zip(nets, batch, trainers):
            backward(net, x)
            trainer.step(1)


def one_after_the_other():
    for net, index in zip(pair(3, 3), (0, 1)):
        trainer = gluon.Trainer(net.collect_params(), "sgd")
        for batch in halves():
            backward(net, batch[index])
            trainer.step(1)


def followed():
    online, target = pair(5, 5)
    trainer = gluon.Trainer(online.collect_params(), "sgd")
    for x, _ in halves():
        backward(online, x)
        trainer.step(1)
        for old, new in zip(parameters(target), parameters(online)):
            old.data()[:] = 0.9 * old.data() + 0.1 * new.data().as_in_context(devices[1])


def averaged_every_third_step():
    nets = pair(7, 7)
    for step, batch in enumerate(halves()):
        for net, x in zip(nets, batch):
            backward(net, x)
            for parameter in parameters(net):
                weight = parameter.data()
                weight -= 0.1 * parameter.grad()
        if step % 3 == 2:
            for one, other in zip(*map(parameters, nets)):
                mean = (one.data() + other.data().as_in_context(devices[0])) / 2
                one.set_data(mean)
                other.set_data(mean)


def asynchronous_workers():
    mx.random.seed(8)
    shared = gluon.nn.Dense(4, in_units=8)
    shared.initialize(mx.init.Xavier())
    workers = pair(8, 8)
    for batch in halves():
        for worker, x, device in zip(workers, batch, devices):
            backward(worker, x)
            for own, of_all in zip(parameters(worker), parameters(shared)):
                weight = of_all.data()
                weight -= 0.1 * own.grad().as_in_context(mx.cpu())
                own.set_data(weight.as_in_context(device))


def halves_of_one_model():
    first, second = pair(9, 9)
    trainers = [gluon.Trainer(net.collect_params(), "sgd") for net in (first, second)]
    for x, y in halves():
        with autograd.record():
            hidden = first(x).as_in_context(devices[1])
            loss = nd.square(hidden + second(y)).mean()
        loss.backward()
        for trainer in trainers:
            trainer.step(1)


searched_by_hand()
searched_with_trainers()
ensemble()
one_after_the_other()
followed()
averaged_every_third_step()
asynchronous_workers()
halves_of_one_model()
nd.waitall()
