"""Lines of an invoice and what they come to. Amounts are in cents."""

from dataclasses import dataclass

TAX = 0.07


@dataclass(frozen=True)
class Line:
    text: str
    cents: int


def tax(lines: list[Line]) -> int:
    return round(sum(line.cents for line in lines) * TAX)


def total(lines: list[Line]) -> int:
    return sum(line.cents for line in lines) + tax(lines)
