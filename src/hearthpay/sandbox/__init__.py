"""The sandbox: test values instead of real numbers, and clocks that can move a household through time."""
