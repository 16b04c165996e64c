"""Files as the US banks exchange them (Nacha): written, read back, and the answers to them."""
