"""Upcoming pay dates under rules that aren't final: how many there are, and how operators are notified."""
