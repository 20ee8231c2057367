"""A package started with `-m`, whose Trainer sums the losses of two half batches with `.numpy()`.

https://www.technetexperts.com/unet-training-slow-optimization has the pattern in a loop; here it stands in a
comprehension, in a method, in a module of a package.

An expert: the comprehension's line waits for the card in each turn.

case: module=trainer.main
"""
