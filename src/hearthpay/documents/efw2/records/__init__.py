"""The records of a wage file, one module each: what stands in their fields, by the keys of the layout."""
