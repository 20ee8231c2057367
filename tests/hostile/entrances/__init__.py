"""One module an entrance: what it is called, what is checked, and how one input is made and tried."""
