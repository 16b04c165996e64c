"""The records of a wage file, one module each: the contents of their fields, by the keys of the layout."""
