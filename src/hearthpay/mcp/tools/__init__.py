"""The tools, a module for each thing they are about; `toolbox` holds them all."""
