"""Generated hostile inputs for every entrance of the product: `python3 -m tests.hostile`."""
