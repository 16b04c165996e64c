"""The worker: what happens without a request, at its time, by any number of processes."""
