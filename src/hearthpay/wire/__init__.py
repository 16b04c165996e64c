"""What is sent, whatever the transport: field types, money, pages of lists, secrecy, JSON.

It uses no web framework, so that services and their commands can use it.
"""
