"""Gauge readings: one level an hour, or None where the gauge did not answer."""

import csv
from dataclasses import dataclass

LONGEST_FILLED_GAP = 3


@dataclass(frozen=True)
class Reading:
    hour: str
    level: float | None
    filled: bool = False


def load(path: str) -> list[Reading]:
    with open(path, newline="") as file:
        return [
            Reading(row["hour"], float(row["level_m"]) if row["level_m"] else None)
            for row in csv.DictReader(file)
        ]


def fill_gaps(readings: list[Reading]) -> list[Reading]:
    """Fill gaps of up to LONGEST_FILLED_GAP hours with a straight line between their neighbours."""
    filled = list(readings)
    start = 0
    while start < len(filled):
        if filled[start].level is not None:
            start += 1
            continue
        end = start
        while end < len(filled) and filled[end].level is None:
            end += 1
        gap = end - start
        if start > 0 and end < len(filled) and gap <= LONGEST_FILLED_GAP:
            before, after = filled[start - 1].level, filled[end].level
            step = (after - before) / gap
            for index in range(start, end):
                level = round(before + step * (index - start + 1), 2)
                filled[index] = Reading(filled[index].hour, level, filled=True)
        start = end
    return filled


def above(readings: list[Reading], warning_level: float) -> list[Reading]:
    return [reading for reading in readings if reading.level is not None and reading.level > warning_level]
