"""What travels, whatever carries it: field types, money, pages of lists, what must never be said, JSON.

It knows no web framework, so that services and their commands can use it.
"""
