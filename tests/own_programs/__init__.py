"""Small programs that use what the recorder also uses, each run with and without it and compared."""
