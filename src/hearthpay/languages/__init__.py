"""What people read, in their language: English is written where it is shown, other languages are in catalogs."""
