"""A second implementation of the log protocols, written from their description alone, to check the package against."""
