"""The clockwork: what happens without a request, at its time, by any number of worker processes."""
