"""The roundings that the law requires, on exact fractions of whole numbers."""


def half_up(numerator: int, denominator: int) -> int:
    """Round the non-negative fraction to the nearest whole number, half up.

    The rule of IRC section 6313 for cents, and of the states' guides unless they say otherwise. Half an odd
    denominator may lose its half: no whole numerator lies between.
    """
    return (numerator + (denominator >> 1)) // denominator


def half_up_to(numerator: int, denominator: int, unit: int) -> int:
    """Round the fraction to the nearest multiple of ``unit`` (1: cents, 100: whole dollars), half up."""
    if unit == 1:
        return (numerator + (denominator >> 1)) // denominator
    return half_up(numerator, denominator * unit) * unit
