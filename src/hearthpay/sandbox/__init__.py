"""The sandbox: test values in the place of real numbers, and clocks that a household can be moved by."""
