"""The tools, one module per subject; `toolbox` has them all."""
