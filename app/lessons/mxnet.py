"""The MXNet programs' lessons."""

from __future__ import annotations

from app.lessons.lesson import Lesson, Variant

LESSONS = (
    Lesson(
        "mx-contexts",
        (Variant("default", steps=3),),
        "Look at mx.context.num_gpus() before you name a GPU, as try_gpu does, and choose cpu() yourself "
        "where it is 0: MXNet raises an error for a missing GPU, it does not fall back.",
    ),
    Lesson(
        "mx-context-scope",
        (Variant("default", steps=3),),
        "Give ctx= to whatever makes an array, or make it inside `with mx.gpu(i):`; a line that only says "
        "mx.gpu(i) does nothing.",
    ),
    Lesson(
        "mx-copy",
        (Variant("default", steps=3),),
        "Write x.as_in_context(ctx) before a computation: it copies only where it has to. Use x.copyto(ctx) "
        "for a copy that you will write into.",
    ),
    Lesson(
        "mx-mixed-context",
        (
            Variant("stand-ins", stand_ins=2, steps=3),
            Variant("gpu-and-host", devices=("gpu:0", "cpu:0"), steps=3, extra=True),
        ),
        "Bring both operands to one context with as_in_context before you combine them, and test on a GPU: "
        "CPU contexts do not tell you that you forgot.",
    ),
    Lesson(
        "mx-gluon-params",
        (Variant("default", steps=3),),
        "Give one context to net.initialize and to the data, and give it to load_parameters(file, ctx=ctx) "
        "too, whatever the parameters were saved from.",
    ),
    Lesson(
        "mx-module",
        (Variant("default", steps=3),),
        "Name the device once, in Module(context=..): bind, init_params and fit follow it. fit's metric "
        "reads the outputs in every step; a loop of your own may call update_metric now and then only.",
    ),
    Lesson(
        "mx-module-data-parallel",
        (
            Variant("even", steps=3),
            Variant("weighted", {"work-load-list": "3,1"}, steps=3),
        ),
        "Give Module a list of contexts, and work_load_list where one of them is slower. The batch is cut, "
        "so multiply it by the number of contexts, or each of them has little to do.",
    ),
    Lesson(
        "mx-gluon-data-parallel",
        (
            Variant("local", {"kvstore": "local"}, steps=3),
            Variant("device", {"kvstore": "device"}, steps=3),
            Variant("none", {"kvstore": "none"}, steps=3),
        ),
        "Give the Trainer kvstore='device' where GPUs have links to each other, 'local' where their memory "
        "is short, and never None with more than one context.",
    ),
    Lesson(
        "mx-model-parallel-lstm",
        (
            Variant("identity", {"boundary": "identity"}, steps=3),
            Variant("direct", {"boundary": "direct"}, steps=3),
        ),
        "Let an mx.sym.identity at the end of a ctx_group, in that group, be all that hands its outputs on: "
        "then only these tensors and their gradients cross, and no parts of gradients.",
    ),
    Lesson(
        "mx-dist-sync",
        (
            Variant("sync", {"kvstore": "dist_sync"}, steps=3),
            Variant("device-sync", {"kvstore": "dist_device_sync"}, steps=3),
            Variant("async", {"kvstore": "dist_async"}, steps=3),
        ),
        "Use dist_sync where workers must hold equal weights, and scale the gradients by the batch of all "
        "workers together, for the servers add them up; dist_async gives equality up for not waiting.",
    ),
    Lesson(
        "mx-matmul-size",
        (Variant("default"),),
        "Leave small products on the host, or make one large product of many with nd.batch_dot: a GPU wins "
        "only where its work takes longer than handing it over, some ten microseconds an operator.",
    ),
    Lesson(
        "mx-log-norm",
        (Variant("all"),),
        "Append the arrays to a list, join them with mx.nd.concat and fetch them once with asnumpy(): no "
        "asscalar() in the loop, and no log[i] = value, which is several operators for each number.",
    ),
    Lesson(
        "mx-two-devices",
        (Variant("default"),),
        "Enqueue the work of all devices before you wait for any of it: no asnumpy, print or wait_to_read "
        "in between.",
    ),
    Lesson(
        "mx-host-sync",
        (Variant("all"),),
        "Append the loss arrays to a list and fetch them together, every hundred steps or at the end. What "
        "must look at each loss can do so in a thread: MXNet lets go of the GIL while it waits.",
    ),
)
