"""Golden runs: recordings of earlier versions, with what is to be reported of them."""
