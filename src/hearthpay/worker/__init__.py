"""The worker: what is done on time without a request, by any number of processes."""
